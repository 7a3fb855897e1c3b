//! Schemes outside becalm: a list for each seam, with a file and a line per scheme.

pub mod marking;
pub mod response;
