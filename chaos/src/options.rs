//! What the command line asks for.

use std::path::PathBuf;

use crate::plan::Order;

pub(crate) const USAGE: &str =
    "--brokers host:port,… --ledger file [--records N] [--seed N] [--order partition|key|unordered|all]";

pub(crate) struct Options {
    pub(crate) brokers: String,
    /// How many brokers there are.
    pub(crate) nodes: usize,
    /// The file of the ledger.
    pub(crate) ledger: PathBuf,
    pub(crate) records: u64,
    pub(crate) seed: u64,
    pub(crate) orders: Vec<Order>,
}

impl Options {
    pub(crate) fn read(words: &[String]) -> Option<Self> {
        let mut options = Self {
            brokers: String::new(),
            nodes: 0,
            ledger: PathBuf::new(),
            records: 100_000,
            // Short, as it is typed again.
            seed: u64::from(rand::random::<u32>()),
            orders: Order::ALL.to_vec(),
        };
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let value = words.next()?;
            match word {
                "--brokers" => value.clone_into(&mut options.brokers),
                "--ledger" => options.ledger = PathBuf::from(value),
                "--records" => options.records = value.parse().ok()?,
                "--seed" => options.seed = value.parse().ok()?,
                "--order" if value == "all" => options.orders = Order::ALL.to_vec(),
                "--order" => options.orders = vec![Order::of(value)?],
                _ => return None,
            }
        }
        options.nodes = options.brokers.split(',').filter(|broker| !broker.is_empty()).count();
        (options.nodes > 0 && options.records > 0 && options.ledger.file_name().is_some()).then_some(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Options> {
        Options::read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn words_say_what_to_do_and_what_is_left_out_has_a_default() {
        let options = read("--brokers a:1,b:2,c:3 --ledger l").unwrap();
        assert_eq!((options.nodes, options.records, options.orders.len()), (3, 100_000, 3));
        let options = read("--brokers a:1 --ledger l --records 5 --seed 7 --order key").unwrap();
        assert_eq!((options.records, options.seed, options.orders), (5, 7, vec![Order::Key]));
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for line in [
            "--ledger l",
            "--brokers a:1 --ledger l --records 0",
            "--brokers a:1 --ledger l --order none",
            "--brokers a:1 --ledger l --seed",
        ] {
            assert!(read(line).is_none(), "{line}");
        }
    }
}
