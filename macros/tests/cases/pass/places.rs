//! A job may stand wherever a type may, and keeps what else is written on it.

#![deny(warnings)]

use babelqueue::{Delivery, HandlerError, Job, babel_job, routes};
use serde::{Deserialize, Serialize};

pub mod r#mod {
    pub mod inner {
        use babelqueue::babel_job;
        use serde::{Deserialize, Serialize};

        /// Seen by the module above, its field by the whole crate.
        #[babel_job("urn:babel:places:inner", key = r#in)]
        #[derive(Debug, Serialize, Deserialize)]
        pub(in crate::r#mod) struct r#Type {
            pub(crate) r#in: u64,
        }

        /// The second of this module.
        #[babel_job("urn:babel:places:second")]
        #[derive(Debug, Serialize, Deserialize)]
        pub struct Second {}
    }

    pub fn key() -> Option<Vec<u8>> {
        use babelqueue::Job as _;
        inner::r#Type { r#in: 7 }.key().map(std::borrow::Cow::into_owned)
    }
}

/// Attributes before and behind, of the type and of its parts.
#[derive(Clone, Copy)]
#[repr(C)]
#[babel_job("urn:babel:places:marked", key = id)]
#[derive(Serialize, Deserialize)]
#[must_use]
#[doc(alias = "tagged")]
#[derive(Debug, PartialEq, Eq, Default)]
struct Marked {
    #[doc = "Counted from 1."]
    #[allow(dead_code)]
    id: u64,
}

#[babel_job("urn:babel:places:levelled")]
#[non_exhaustive]
#[derive(Default, Serialize, Deserialize)]
#[serde(tag = "level")]
#[allow(dead_code, non_camel_case_types)]
pub enum levelled {
    #[default]
    low,
    r#async {
        r#await: bool,
    },
}

#[deny(missing_docs)]
pub mod documented {
    //! What the macro adds needs no documentation of its own.

    /// A job.
    #[babelqueue::babel_job("urn:babel:places:documented", key = id)]
    #[derive(serde::Serialize, serde::Deserialize)]
    pub struct Documented {
        /// Its number.
        pub id: u64,
    }
}

use r#mod::inner::Second as Other;

fn in_a_body() -> (Option<Vec<u8>>, Vec<&'static str>) {
    #[babel_job("urn:babel:places:local", key = id)]
    #[derive(Serialize, Deserialize)]
    struct Local {
        id: u64,
    }

    async fn on_local(_: Local, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }

    async fn on_other(_: Other, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }

    let key = Local { id: 3 }.key().map(std::borrow::Cow::into_owned);
    (key, routes![Local => on_local, Other => on_other].urns())
}

const IN_A_CONSTANT: &str = {
    #[babel_job("urn:babel:places:constant")]
    #[derive(Serialize, Deserialize)]
    struct Constant {}
    let Constant {} = Constant {};
    Constant::URN
};

trait Named {
    fn urn(&self) -> &'static str;
}

impl Named for Marked {
    fn urn(&self) -> &'static str {
        #[babel_job("urn:babel:places:method")]
        #[derive(Serialize, Deserialize)]
        struct InAMethod<T> {
            of: T,
        }
        let job = InAMethod { of: self.id };
        let _ = job.of;
        InAMethod::<u64>::URN
    }
}

fn main() {
    assert_eq!(r#mod::key().as_deref(), Some(&b"7"[..]));
    assert_eq!(Marked::default().key().as_deref(), Some(&b"0"[..]));
    assert_eq!(Marked { id: 1 }.clone(), Marked { id: 1 });
    assert_eq!(levelled::default().key(), None);
    assert_eq!(documented::Documented { id: 2 }.key().as_deref(), Some(&b"2"[..]));
    let (key, urns) = in_a_body();
    assert_eq!(key.as_deref(), Some(&b"3"[..]));
    assert_eq!(urns, ["urn:babel:places:local", "urn:babel:places:second"]);
    assert_eq!(IN_A_CONSTANT, "urn:babel:places:constant");
    assert_eq!(Marked::default().urn(), "urn:babel:places:method");
}
