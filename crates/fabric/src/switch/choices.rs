//! State of the choice among equal ports.

use std::collections::HashMap;

use becalm_engine::{Time, mix};

use crate::network::routing::PortSet;

/// State of the choice among equal ports.
#[derive(Debug)]
pub(crate) struct Choices {
    pub(super) seed: u64,
    /// For each set of equal ports, the next round-robin index.
    turns: Vec<u32>,
    /// Indexed by flow and kind of packet.
    pub(super) flowlets: HashMap<u64, Flowlet>,
}

/// A burst of a flow's packets that use the same port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flowlet {
    pub(super) last: Time,
    pub(super) port: u16,
}

impl Choices {
    pub fn new(seed: u64) -> Choices {
        Choices { seed, turns: Vec::new(), flowlets: HashMap::new() }
    }

    /// The next round-robin index into a set. Sets begin at random indices, so that switches are not
    /// synchronised.
    pub(super) fn turn(&mut self, set: &PortSet<'_>, switch: u32) -> usize {
        let (number, n) = (set.number() as usize, set.len());
        while self.turns.len() <= number {
            let own = mix(mix(self.seed, u64::from(switch)), self.turns.len() as u64);
            self.turns.push((own >> 32) as u32);
        }
        let turn = &mut self.turns[number];
        let place = *turn as usize % n;
        *turn = (place as u32 + 1) % n as u32;
        place
    }
}
