//! One item for each flow, some of which are made when they are needed.

use std::ops::{Index, IndexMut};

/// Items by the number of a flow: those of the first flows, and of other flows as far as they have been made.
///
/// Access to the first flows is as fast as in a vector. Other flows need four bytes each until their item is made.
#[derive(Debug)]
pub(crate) struct Store<T> {
    first: Vec<T>,
    /// For each other flow, the place of its item in `made`, counted from 1; 0 if it has none.
    places: Vec<u32>,
    made: Vec<T>,
}

const MADE: &str = "the item of a flow is made before it is used";

impl<T> Default for Store<T> {
    fn default() -> Self {
        Store { first: Vec::new(), places: Vec::new(), made: Vec::new() }
    }
}

impl<T> Store<T> {
    /// The items of the first flows, and none of this number of `others`.
    pub fn new(first: Vec<T>, others: usize) -> Store<T> {
        Store { first, places: vec![0; others], made: Vec::new() }
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.first.len() + self.places.len()
    }

    /// The item of a flow, if it has been made.
    #[inline]
    pub fn get(&self, flow: usize) -> Option<&T> {
        match flow.checked_sub(self.first.len()) {
            None => self.first.get(flow),
            Some(other) => self.made.get((*self.places.get(other)? as usize).wrapping_sub(1)),
        }
    }

    /// The item of a flow, which this function makes if there is none.
    pub fn get_or_make(&mut self, flow: usize, make: impl FnOnce() -> T) -> &mut T {
        if self.get(flow).is_none() {
            self.made.push(make());
            self.places[flow - self.first.len()] = self.made.len() as u32;
        }
        &mut self[flow]
    }

    /// All items that have been made, in no particular order.
    pub fn made(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.made)
    }

    /// Takes over the items of the flows that are `theirs` from another store of the same flows.
    pub fn take_over(&mut self, other: &mut Store<T>, theirs: impl Fn(usize) -> bool) {
        for (flow, (own, its)) in self.first.iter_mut().zip(&mut other.first).enumerate() {
            if theirs(flow) {
                std::mem::swap(own, its);
            }
        }
        let mut made: Vec<Option<T>> = std::mem::take(&mut other.made).into_iter().map(Some).collect();
        for (flow, place) in (self.first.len()..).zip(std::mem::take(&mut other.places)) {
            let item = made.get_mut((place as usize).wrapping_sub(1)).filter(|_| theirs(flow)).and_then(Option::take);
            if let Some(item) = item {
                self.get_or_make(flow, || item);
            }
        }
    }

    // Functions without a panic leave callers free to keep in registers what they have read.
    #[cold]
    #[inline(never)]
    fn other(&self, flow: usize) -> Option<&T> {
        let place = *self.places.get(flow.wrapping_sub(self.first.len()))?;
        self.made.get((place as usize).wrapping_sub(1))
    }

    #[cold]
    #[inline(never)]
    fn other_mut(&mut self, flow: usize) -> Option<&mut T> {
        let place = *self.places.get(flow.wrapping_sub(self.first.len()))?;
        self.made.get_mut((place as usize).wrapping_sub(1))
    }
}

impl<T> Index<usize> for Store<T> {
    type Output = T;

    /// # Panics
    /// If the item has not been made.
    #[inline(always)]
    fn index(&self, flow: usize) -> &T {
        if flow < self.first.len() { &self.first[flow] } else { self.other(flow).expect(MADE) }
    }
}

impl<T> IndexMut<usize> for Store<T> {
    #[inline(always)]
    fn index_mut(&mut self, flow: usize) -> &mut T {
        if flow < self.first.len() { &mut self.first[flow] } else { self.other_mut(flow).expect(MADE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_made_once_and_taken_over() {
        let mut store = Store::new(vec!['a', 'b'], 3);
        assert_eq!((store.len(), store.get(1), store.get(2), store.get(5)), (5, Some(&'b'), None, None));
        assert_eq!((*store.get_or_make(4, || 'e'), *store.get_or_make(4, || 'x'), store[4]), ('e', 'e', 'e'));
        store[4] = 'f';
        let mut other = Store::new(vec!['c', 'd'], 3);
        other.get_or_make(2, || 'g');
        other.get_or_make(3, || 'h');
        store.take_over(&mut other, |flow| flow == 1 || flow == 3);
        assert_eq!(
            (0..5).map(|flow| store.get(flow).copied()).collect::<Vec<_>>(),
            [Some('a'), Some('d'), None, Some('h'), Some('f')]
        );
        assert_eq!(store.made().count(), 4);
    }
}
