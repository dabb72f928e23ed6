//! The state of `routes![state; …]`: a value, or an `Arc` that the application keeps a clone of.

use std::sync::Arc;

/// A state as it was given. [`share`](State::share) leaves an `Arc` as it is: the method of this type comes before that
/// of the trait.
pub struct State<S>(pub S);

impl<S> State<Arc<S>> {
    /// The given `Arc`.
    pub fn share(self) -> Arc<S> {
        self.0
    }
}

/// The other states.
pub trait Share {
    /// What is shared.
    type Shared;
    /// Puts the state into an `Arc`.
    fn share(self) -> Arc<Self::Shared>;
}

impl<S> Share for State<S> {
    type Shared = S;

    fn share(self) -> Arc<S> {
        Arc::new(self.0)
    }
}
