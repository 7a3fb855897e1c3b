//! A scheme with the values of its parameters.

use std::sync::Arc;

use crate::parameters::Value;
use crate::scheme::Scheme;

/// A scheme with the values of its parameters, in the order of their declaration.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The scheme.
    pub scheme: Arc<Scheme>,
    /// The values.
    pub values: Vec<Value>,
}
