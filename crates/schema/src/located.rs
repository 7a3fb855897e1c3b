//! Values with their locations.

use std::ops::{Deref, RangeBounds};

use crate::errors::Errors;
use crate::field::Field;
use crate::node::Node;
use crate::range::Ranged;

/// A location in a document; its beginning by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub(crate) node: u32,
    given: bool,
}

impl Place {
    /// The location of a node.
    pub(crate) fn of(node: &Node) -> Place {
        Place { node: node.id, given: true }
    }

    /// The location of a value that is missing in a table.
    pub(crate) fn left_out_of(table: &Node) -> Place {
        Place { node: table.id, given: false }
    }

    /// Whether the document has the value. If not, the location is that of the table without it.
    pub fn is_given(self) -> bool {
        self.given
    }

    /// The first of these locations whose value is in the document; the last location if there is none.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn first_given(places: &[Place]) -> Place {
        let given = places.iter().find(|place| place.given);
        *given.or(places.last()).expect("at least one place")
    }
}

/// A value and its location. The value is missing if it could not be read. The error has then been noted.
///
/// In a document without errors, every value is present and can be used directly. Use [`Located::get`] while
/// there may be errors.
#[derive(Clone, Copy, Debug)]
pub struct Located<T> {
    value: Option<T>,
    place: Place,
}

impl<T> Located<T> {
    pub(crate) fn new(value: Option<T>, place: Place) -> Located<T> {
        Located { value, place }
    }

    /// The value; `None` after an error.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    /// The mutable value; `None` after an error.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.as_mut()
    }

    /// The value itself; `None` after an error.
    pub(crate) fn into_value(self) -> Option<T> {
        self.value
    }

    /// Its location.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Its location, if the document contains the value.
    pub fn given(&self) -> Option<Place> {
        self.place.given.then_some(self.place)
    }
}

impl<T: Field> Located<T> {
    /// The value, if all values in it are present.
    pub fn complete(&self) -> Option<&T> {
        self.get().filter(|value| value.is_complete())
    }
}

impl<T> Located<Option<T>> {
    /// The value; `None` if it is absent or after an error.
    pub fn set(&self) -> Option<&T> {
        self.get()?.as_ref()
    }
}

impl<T> Located<Vec<T>> {
    /// The items; empty after an error.
    pub fn items(&self) -> &[T] {
        self.get().map_or(&[], Vec::as_slice)
    }
}

impl<T> Deref for Located<T> {
    type Target = T;

    /// # Panics
    /// After an error.
    fn deref(&self) -> &T {
        self.value.as_ref().expect("the document has no errors")
    }
}

impl<T> From<T> for Located<T> {
    /// A value without a location in a document.
    fn from(value: T) -> Located<T> {
        Located { value: Some(value), place: Place::default() }
    }
}

/// Equality ignores locations.
impl<T: PartialEq> PartialEq for Located<T> {
    fn eq(&self, other: &Located<T>) -> bool {
        self.value == other.value
    }
}

impl<T: Field> Field for Located<T> {
    fn expects() -> String {
        T::expects()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Located<T>> {
        Some(Located { value: T::read(node, errors), place: Place::of(node) })
    }

    fn to_json(&self) -> serde_json::Value {
        self.value.as_ref().map_or(serde_json::Value::Null, T::to_json)
    }

    fn json_schema() -> serde_json::Value {
        T::json_schema()
    }

    fn absent() -> Option<Located<T>> {
        T::absent().map(Located::from)
    }

    fn is_complete(&self) -> bool {
        self.value.as_ref().is_some_and(T::is_complete)
    }
}

impl<T: Ranged> Ranged for Located<T> {
    type Bound = T::Bound;
    fn within(&self, range: &impl RangeBounds<T::Bound>) -> bool {
        self.value.as_ref().is_none_or(|value| value.within(range))
    }
}
