//! The seams, which are the traits that a congestion-control scheme implements, and the scheme's view of the fabric.
//!
//! | seam | where it runs | sees | answers |
//! |---|---|---|---|
//! | [`Marker`] | a switch | a packet that arrives or departs, and [`SwitchView`] | whether to mark it, when to return its credit |
//! | [`Echo`] | the destination adapter | the packet that arrived, and the [`Unanswered`] ones | [`Answer`] |
//! | [`Response`] | a source flow | its [`FlowShape`], [`Sent`] packets, [`Notice`]s with [`Ack`]s | a [`Pace`] |
//!
//! [`Observer`] is the fourth seam. It watches the model but never changes it.
//!
//! Schemes return decisions. Only the fabric moves packets and credits and schedules events.

mod echo;
mod marker;
mod observer;
mod response;

pub use echo::{Answer, Echo, Unanswered};
pub use marker::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};
pub use observer::{Delivery, Joint, Observer};
pub use response::{Ack, FlowShape, Hop, Notice, Pace, Response, Sent};
