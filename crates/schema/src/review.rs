//! Errors of a document after reading.

use crate::conflict::{Conflict, note};
use crate::errors::Errors;
use crate::located::Place;
use crate::node::Node;

/// A document and its list of errors.
pub struct Review<'a> {
    root: &'a Node,
    errors: &'a mut Errors,
}

impl<'a> Review<'a> {
    /// A review of a document that has been read.
    pub fn new(root: &'a Node, errors: &'a mut Errors) -> Review<'a> {
        Review { root, errors }
    }

    /// Notes that the value at a location is wrong.
    pub fn add(&mut self, place: Place, problem: impl Into<String>) {
        self.add_valid(place, problem, "");
    }

    /// Notes that the value at a location is wrong, with the valid values.
    pub fn add_valid(&mut self, place: Place, problem: impl Into<String>, valid: impl Into<String>) {
        self.errors.add(self.root.find(place.node), problem, valid);
    }

    /// Notes that values in the table at a location contradict each other.
    pub fn conflict(&mut self, table: Place, conflict: Conflict) {
        note(self.root.find(table.node), conflict, self.errors);
    }

    /// Notes that the value at a path in a table, such as `ibta.overrides[0]`, is wrong. Schemes use this for
    /// errors in their parameters.
    pub fn add_in(&mut self, table: Place, path: &str, problem: impl Into<String>) {
        let table = self.root.find(table.node);
        self.errors.add(table.at(path).unwrap_or(table), problem, "");
    }

    /// Whether the table at a location has a value at a path.
    pub fn has(&self, table: Place, path: &str) -> bool {
        self.root.find(table.node).at(path).is_some()
    }

    /// Number of errors.
    pub fn count(&self) -> usize {
        self.errors.list.len()
    }
}
