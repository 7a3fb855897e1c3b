//! The round-robin order of a switch's inputs.

use becalm_engine::Stream;

use crate::ids::NodeId;

/// Domain of the random stream for a switch's round-robin order.
const TURNS_STREAM: u64 = 3;

/// A random order of the inputs, to make round-robin independent of port numbers.
#[derive(Debug)]
pub(crate) struct Turns {
    /// The place of each input in the order.
    places: Vec<u16>,
    /// The input at each place.
    inputs: Vec<u16>,
}

impl Turns {
    /// The order of a switch with this many ports.
    pub fn new(ports: u16, seed: u64, node: NodeId) -> Turns {
        let mut random = Stream::new(seed, u64::from(node.0), TURNS_STREAM);
        let mut inputs: Vec<u16> = (0..ports).collect();
        for last in (1..ports).rev() {
            inputs.swap(usize::from(last), random.below(u32::from(last) + 1) as usize);
        }
        let mut places = vec![0; inputs.len()];
        (0..).zip(&inputs).for_each(|(place, &input)| places[usize::from(input)] = place);
        Turns { places, inputs }
    }

    /// The place of an input.
    #[inline]
    pub fn place(&self, input: u16) -> u16 {
        self.places[usize::from(input)]
    }

    /// The input at a place.
    #[inline]
    pub fn input(&self, place: u16) -> u16 {
        self.inputs[usize::from(place)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_has_one_place_and_every_order_comes_up() {
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let turns = Turns::new(4, seed, NodeId(7));
            assert!((0..4).all(|input| turns.input(turns.place(input)) == input));
            orders.insert(turns.inputs);
        }
        assert_eq!(orders.len(), 24);
    }
}
