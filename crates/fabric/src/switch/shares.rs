//! Turns of inputs that send trains: an input sends as many packets as another, whatever the lengths of their trains.
//!
//! Start-time fair queueing (Goyal, Vin and Cheng, "Start-Time Fair Queuing", SIGCOMM 1996), with packets as the unit. Among
//! single packets, this is round-robin.

/// The turns of all queues of a switch.
#[derive(Debug)]
pub(crate) struct Shares {
    /// By queue: the virtual time at which its last train ends, in packets.
    ends: Vec<u64>,
    /// By output and lane: the virtual time at which the last train began.
    began: Vec<u64>,
    /// One bit for each packet that is marked of the train that leaves now.
    pub marks: u16,
}

impl Shares {
    pub fn new(queues: usize, lanes: usize) -> Shares {
        Shares { ends: vec![0; queues], began: vec![0; lanes], marks: 0 }
    }

    /// The virtual time at which the next train of a queue begins.
    pub fn begins(&self, lane: usize, queue: usize) -> u64 {
        self.ends[queue].max(self.began[lane])
    }

    /// Records a train.
    pub fn sent(&mut self, lane: usize, queue: usize, packets: u32) {
        let begins = self.begins(lane, queue);
        (self.began[lane], self.ends[queue]) = (begins, begins + u64::from(packets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_send_as_many_packets_whatever_their_trains() {
        let (mut shares, mut sent, lengths) = (Shares::new(3, 1), [0u32; 3], [16, 3, 1]);
        for _ in 0..2_000 {
            let next = (0..3).min_by_key(|&queue| shares.begins(0, queue)).unwrap();
            shares.sent(0, next, lengths[next]);
            sent[next] += lengths[next];
            let most = sent.iter().max().unwrap();
            assert!(sent.iter().all(|one| most - one <= 16), "{sent:?}");
        }
        // A queue that was empty does not make up for it.
        (0..100).for_each(|_| shares.sent(0, 1, 3));
        assert!(shares.begins(0, 0) >= shares.begins(0, 1) - 3);
    }
}
