//! A scheme with the values of its parameters.

use std::sync::Arc;

use crate::native::Context;
use crate::parameters::Value;
use crate::scheme::Scheme;

/// A scheme with the values of its parameters, in the order of their declaration. All its states share it.
#[derive(Debug)]
pub struct Linked {
    /// The scheme.
    pub scheme: Arc<Scheme>,
    /// The values.
    pub values: Vec<Value>,
    /// What every call of a compiled one gets.
    pub(crate) context: Context,
}

impl Linked {
    /// A scheme with these values.
    pub fn new(scheme: Arc<Scheme>, values: Vec<Value>) -> Arc<Linked> {
        let context = Context::new(&values);
        Arc::new(Linked { scheme, values, context })
    }
}
