//! A scheme with the values of its parameters.

use std::sync::Arc;

use crate::native::Context;
use crate::parameters::Value;
use crate::scheme::Scheme;

/// A scheme with the values of its parameters, in the order of declaration. All states of the scheme share
/// it.
#[derive(Debug)]
pub struct Linked {
    /// The scheme.
    pub scheme: Arc<Scheme>,
    /// The values.
    pub values: Vec<Value>,
    /// The context of every call of a compiled scheme.
    pub(crate) context: Context,
}

impl Linked {
    /// A scheme with these values.
    pub fn new(scheme: Arc<Scheme>, values: Vec<Value>) -> Arc<Linked> {
        let context = Context::new(&scheme, &values);
        Arc::new(Linked { scheme, values, context })
    }
}
