//! Pauses: the receiver's end of priority-based flow control, which stops and resumes senders.
//!
//! A packet counts from the arrival of its header until the departure of its last byte. A packet that fills its buffer
//! beyond XOFF pauses the sender. Packets that arrive after it use headroom. The sender resumes when the buffer has
//! drained to XON.

use crate::config::SharedPool;

/// The buffer of one virtual lane at a switch's input port or a host.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buffer {
    /// Bytes in the buffer.
    pub taken: u32,
    /// Bytes in headroom.
    pub over: u32,
    /// Maximum number of bytes so far in headroom.
    pub most_over: u32,
    /// Size of the headroom in bytes.
    pub headroom: u32,
    /// Whether the sender has been told to stop.
    pub paused: bool,
    /// Whether a storm keeps the sender stopped, whatever the buffer holds.
    pub stormed: bool,
}

/// Memory shared by buffers.
#[derive(Clone, Copy, Debug)]
struct Pool {
    free: u64,
    alpha: f64,
    offset: u64,
}

impl Pool {
    /// Current XOFF of all buffers, in bytes.
    fn xoff(&self) -> u64 {
        (self.alpha * self.free as f64) as u64
    }
}

/// The buffers of one node.
#[derive(Clone, Debug)]
pub(crate) struct Pauses {
    /// Indexed by (port, VL).
    pub buffers: Vec<Buffer>,
    xoff: u32,
    xon: u32,
    pool: Option<Pool>,
}

impl Pauses {
    /// Empty buffers with the given headroom, by (port, VL).
    pub fn new(headroom: impl Iterator<Item = u32>, xoff: u32, xon: u32) -> Pauses {
        let buffers = headroom.map(|headroom| Buffer { headroom, ..Buffer::default() }).collect();
        Pauses { buffers, xoff, xon, pool: None }
    }

    /// The same buffers with shared memory instead of their own. By default, XON is `offset` bytes below
    /// XOFF.
    pub fn sharing(mut self, pool: &SharedPool, offset: u32) -> Pauses {
        let free = pool.bytes.unwrap_or(self.buffers.len() as u64 * u64::from(self.xoff));
        let offset = u64::from(pool.offset.unwrap_or(offset));
        self.pool = Some(Pool { free, alpha: pool.alpha, offset });
        self
    }

    /// Adds a packet to a buffer. Returns whether to tell the sender to stop.
    pub fn received(&mut self, at: usize, size: u32) -> bool {
        let buffer = &mut self.buffers[at];
        buffer.taken += size;
        let own = match &mut self.pool {
            None => size.saturating_sub(buffer.taken.saturating_sub(self.xoff)),
            // A paused buffer uses no shared memory, which would pause others for packets that belong in
            // headroom.
            Some(_) if buffer.paused => 0,
            Some(pool) if u64::from(buffer.taken) <= pool.xoff() && u64::from(size) <= pool.free => {
                pool.free -= u64::from(size);
                size
            }
            Some(_) => 0,
        };
        buffer.over += size - own;
        buffer.most_over = buffer.most_over.max(buffer.over);
        let stops = buffer.over > 0 && !buffer.paused;
        buffer.paused |= stops;
        stops && !buffer.stormed
    }

    /// Removes a packet from a buffer, from its headroom first. Returns whether to tell the sender to resume.
    pub fn released(&mut self, at: usize, size: u32) -> bool {
        let buffer = &mut self.buffers[at];
        let from_headroom = buffer.over.min(size);
        buffer.over -= from_headroom;
        buffer.taken -= size;
        if let Some(pool) = &mut self.pool {
            pool.free += u64::from(size - from_headroom);
        }
        let resumes = match &self.pool {
            None => buffer.taken <= self.xon,
            // An empty buffer has no packets whose later departure could resume the sender.
            Some(pool) => {
                let below = u64::from(buffer.taken) + pool.offset <= pool.xoff();
                buffer.over == 0 && (below || buffer.taken == 0)
            }
        };
        let goes_on = buffer.paused && resumes;
        buffer.paused &= !goes_on;
        goes_on && !buffer.stormed
    }

    /// Begins or ends a storm. Returns whether to tell the sender: it is told nothing while the buffer itself has paused it.
    pub fn storm(&mut self, at: usize, storms: bool) -> bool {
        let buffer = &mut self.buffers[at];
        buffer.stormed = storms;
        !buffer.paused
    }

    /// Index of the first buffer that has needed more headroom than it has.
    pub fn overflow(&self) -> Option<usize> {
        self.buffers.iter().position(|buffer| buffer.most_over > buffer.headroom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart() -> Pauses {
        Pauses::new([300, 300].into_iter(), 1000, 700)
    }

    #[test]
    fn pauses_above_xoff_and_goes_on_at_xon() {
        let mut pauses = apart();
        assert!(!pauses.received(0, 600) && !pauses.received(0, 400), "a level equal to XOFF does not pause");
        assert!(pauses.received(0, 1) && !pauses.received(0, 200), "told to stop once");
        assert_eq!((pauses.buffers[0].over, pauses.overflow()), (201, None));
        assert!(!pauses.received(1, 900), "the other buffer has its own memory");
        assert!(!pauses.released(0, 400) && !pauses.released(0, 100), "701 B remain");
        assert!(pauses.released(0, 1) && !pauses.released(0, 700));
    }

    #[test]
    fn what_headroom_cannot_take_is_an_overflow() {
        let mut pauses = apart();
        pauses.received(1, 1000);
        pauses.received(1, 300);
        assert_eq!(pauses.overflow(), None);
        pauses.received(1, 1);
        assert_eq!((pauses.overflow(), pauses.buffers[1].most_over), (Some(1), 301));
    }

    /// Buffers with a total of 4000 B, whose XOFF is half of the free memory.
    fn shared() -> Pauses {
        apart().sharing(&SharedPool { bytes: Some(4000), alpha: 0.5, offset: Some(100) }, 0)
    }

    #[test]
    fn what_others_hold_lowers_the_threshold() {
        let mut pauses = shared();
        assert!(!pauses.received(0, 1300), "XOFF is 2000 B");
        // 2700 B are free: XOFF is 1350 B.
        assert!(!pauses.received(1, 900));
        // 1800 B are free: XOFF is 900 B.
        assert!(pauses.received(0, 100));
        assert_eq!((pauses.buffers[0].over, pauses.buffers[0].taken), (100, 1400));
        assert!(!pauses.released(0, 100), "headroom first, and 1300 B is above XON");
        assert!(!pauses.released(1, 900), "the other buffer's sender was not paused");
        // 3200 B are free after the departure: XON is 1500 B.
        assert!(pauses.released(0, 500));
    }

    #[test]
    fn an_empty_buffer_goes_on_even_without_a_free_byte() {
        let mut pauses = Pauses::new([300, 300].into_iter(), 1000, 700)
            .sharing(&SharedPool { bytes: Some(1000), alpha: 8.0, offset: None }, 100);
        assert!(!pauses.received(0, 1000) && pauses.received(1, 200));
        assert!(pauses.released(1, 200));
        assert_eq!(pauses.pool.expect("shared").free, 0);
    }
}
