//! Schemes that are no part of becalm: a list for each seam, with a file and a line for each scheme.

pub mod marking;
pub mod response;
