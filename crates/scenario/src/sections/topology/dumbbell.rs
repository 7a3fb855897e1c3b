//! `[topology.dumbbell]`: two switches and one link between them.

use becalm_engine::Time;
use becalm_fabric::{DumbbellSpec, Routes, Topology};
use becalm_schema::{Located, Place, Review};

use super::generator::{Choices, Generator};
use super::size::Size;
use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// Two switches and one link between them (Santos 2002 and 2003, Fig. 1).
    ///
    /// Hosts `A1`, `A2`, ... and `AV` are on switch `A`; `B1`, `B2`, ..., `BC` (the hot destination) and `BV` (the
    /// victim's destination) are on switch `B`.
    pub struct Dumbbell {
        /// Number of hosts `A1`, `A2`, ... on switch `A`.
        pub remote: u32 = 10; "hosts"; 0..=60_000,
        /// Number of hosts `B1`, `B2`, ... on switch `B`.
        pub local: u32 = 10; "hosts"; 0..=60_000,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
    }
}

impl Generator for Dumbbell {
    fn size(&self, _: Place, _: &mut Review<'_>) -> Option<Size> {
        // The destinations and sources of the victim and the hot destination.
        let hosts = u64::from(self.remote) + u64::from(self.local) + 3;
        Some(Size::new(hosts, 2, hosts + 1))
    }

    fn build(&self, choices: Choices, _: &mut Review<'_>) -> Option<(Topology, Routes)> {
        let (remote, local, rate) = (self.remote, self.local, self.rate.rate());
        Some(choices.shortest(Topology::dumbbell(&DumbbellSpec { remote, local, rate, delay: self.delay })))
    }

    fn routes(&self) -> Option<&Located<Vec<Located<Route>>>> {
        None
    }
}
