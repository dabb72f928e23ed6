//! How arrays of a fixed length are read: as tuples, and `[(); 0]` for the empty one.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{Error, IgnoredAny, SeqAccess, Visitor},
};

use super::{
    decode::{Decode, Own, Seed},
    rules::{self, Rules},
};

struct TupleVisitor<C, T> {
    rules: Rules,
    len: usize,
    way: PhantomData<fn(C) -> T>,
}

impl<C, T> TupleVisitor<C, T> {
    fn new(rules: Rules, len: usize) -> Self {
        Self { rules, len, way: PhantomData }
    }

    fn item<'de, A, W: Decode<U>, U>(&self, seq: &mut A, index: usize) -> Result<U, A::Error>
    where
        A: SeqAccess<'de>,
    {
        let item = seq.next_element_seed(Seed::<W, U>::new(rules::at(index, self.rules)))?;
        item.ok_or_else(|| self.wrong_length())
    }

    fn end<'de, A: SeqAccess<'de>>(&self, seq: &mut A) -> Result<(), A::Error> {
        if seq.next_element::<IgnoredAny>()?.is_some() { Err(self.wrong_length()) } else { Ok(()) }
    }

    fn wrong_length<E: Error>(&self) -> E {
        E::custom(format_args!("the array has to have {} item{}", self.len, if self.len == 1 { "" } else { "s" }))
    }
}

impl<'de> Visitor<'de> for TupleVisitor<(), [(); 0]> {
    type Value = [(); 0];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<[(); 0], A::Error> {
        self.end(&mut seq)?;
        Ok([])
    }
}

impl Decode<[(); 0]> for Own {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<[(); 0], D::Error> {
        deserializer.deserialize_seq(TupleVisitor::<(), [(); 0]>::new(rules, 0))
    }
}

macro_rules! tuples {
    ($($len:literal ($($way:ident $item:ident $index:tt)*))*) => {$(
        impl<'de, $($way: Decode<$item>, $item),*> Visitor<'de> for TupleVisitor<($($way,)*), ($($item,)*)> {
            type Value = ($($item,)*);

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let items = ($(self.item::<A, $way, $item>(&mut seq, $index)?,)*);
                self.end(&mut seq)?;
                Ok(items)
            }
        }

        impl<$($way: Decode<$item>, $item),*> Decode<($($item,)*)> for ($($way,)*) {
            fn read<'de, De: Deserializer<'de>>(deserializer: De, rules: Rules) -> Result<($($item,)*), De::Error> {
                deserializer.deserialize_seq(TupleVisitor::<Self, ($($item,)*)>::new(rules, $len))
            }
        }

        impl<$($item),*> Decode<($($item,)*)> for Own
        where
            $(Own: Decode<$item>,)*
        {
            fn read<'de, De: Deserializer<'de>>(deserializer: De, rules: Rules) -> Result<($($item,)*), De::Error> {
                <($(own!($way),)*) as Decode<($($item,)*)>>::read(deserializer, rules)
            }
        }
    )*};
}

macro_rules! own {
    ($way:ident) => {
        Own
    };
}

// As long as tuples can be compared and printed.
tuples! {
    1 (WA TA 0)
    2 (WA TA 0 WB TB 1)
    3 (WA TA 0 WB TB 1 WC TC 2)
    4 (WA TA 0 WB TB 1 WC TC 2 WD TD 3)
    5 (WA TA 0 WB TB 1 WC TC 2 WD TD 3 WE TE 4)
    6 (WA TA 0 WB TB 1 WC TC 2 WD TD 3 WE TE 4 WF TF 5)
    7 (WA TA 0 WB TB 1 WC TC 2 WD TD 3 WE TE 4 WF TF 5 WG TG 6)
    8 (WA TA 0 WB TB 1 WC TC 2 WD TD 3 WE TE 4 WF TF 5 WG TG 6 WH TH 7)
    9 (WA TA 0 WB TB 1 WC TC 2 WD TD 3 WE TE 4 WF TF 5 WG TG 6 WH TH 7 WI TI 8)
    10 (WA TA 0 WB TB 1 WC TC 2 WD TD 3 WE TE 4 WF TF 5 WG TG 6 WH TH 7 WI TI 8 WJ TJ 9)
    11 (WA TA 0 WB TB 1 WC TC 2 WD TD 3 WE TE 4 WF TF 5 WG TG 6 WH TH 7 WI TI 8 WJ TJ 9 WK TK 10)
    12 (WA TA 0 WB TB 1 WC TC 2 WD TD 3 WE TE 4 WF TF 5 WG TG 6 WH TH 7 WI TI 8 WJ TJ 9 WK TK 10 WL TL 11)
}
