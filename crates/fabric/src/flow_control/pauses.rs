//! Pauses: the receiver's end of priority-based flow control, which says when a sender stops and goes on.
//!
//! A packet counts from the arrival of its header until its last byte has left. One that takes its buffer above XOFF
//! pauses the sender; what comes then takes headroom. The sender goes on when the buffer is down to XON.

use crate::config::SharedPool;

/// One buffer: of an input port of a switch, or of a host's receive buffer, and a virtual lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buffer {
    /// Bytes that it holds.
    pub taken: u32,
    /// Of these, the bytes in headroom.
    pub over: u32,
    /// Most bytes that have been in headroom.
    pub most_over: u32,
    /// Bytes of headroom.
    pub headroom: u32,
    /// Whether its sender has been asked to stop.
    pub paused: bool,
}

/// The memory that buffers share.
#[derive(Clone, Copy, Debug)]
struct Pool {
    free: u64,
    alpha: f64,
    offset: u64,
}

impl Pool {
    /// XOFF of all buffers now, in bytes.
    fn xoff(&self) -> u64 {
        (self.alpha * self.free as f64) as u64
    }
}

/// The buffers of one node.
#[derive(Clone, Debug)]
pub(crate) struct Pauses {
    /// By (port, VL).
    pub buffers: Vec<Buffer>,
    xoff: u32,
    xon: u32,
    pool: Option<Pool>,
}

impl Pauses {
    /// Empty buffers with this headroom, by (port, VL).
    pub fn new(headroom: impl Iterator<Item = u32>, xoff: u32, xon: u32) -> Pauses {
        let buffers = headroom.map(|headroom| Buffer { headroom, ..Buffer::default() }).collect();
        Pauses { buffers, xoff, xon, pool: None }
    }

    /// The same buffers with shared memory in place of their own. `offset` bytes lie between XOFF and XON by default.
    pub fn sharing(mut self, pool: &SharedPool, offset: u32) -> Pauses {
        let free = pool.bytes.unwrap_or(self.buffers.len() as u64 * u64::from(self.xoff));
        let offset = u64::from(pool.offset.unwrap_or(offset));
        self.pool = Some(Pool { free, alpha: pool.alpha, offset });
        self
    }

    /// Takes a packet into a buffer; returns whether the sender must be asked to stop.
    pub fn received(&mut self, at: usize, size: u32) -> bool {
        let buffer = &mut self.buffers[at];
        buffer.taken += size;
        let own = match &mut self.pool {
            None => size.saturating_sub(buffer.taken.saturating_sub(self.xoff)),
            // A paused buffer takes nothing that is shared: others would be paused for what headroom is there for.
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
        stops
    }

    /// Lets a packet out of a buffer, out of its headroom first; returns whether the sender must be asked to go on.
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
            // An empty buffer has nothing that could leave later and let the sender go on.
            Some(pool) => {
                let below = u64::from(buffer.taken) + pool.offset <= pool.xoff();
                buffer.over == 0 && (below || buffer.taken == 0)
            }
        };
        let goes_on = buffer.paused && resumes;
        buffer.paused &= !goes_on;
        goes_on
    }

    /// The place of the first buffer that has needed more headroom than it has.
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
        assert!(!pauses.received(0, 600) && !pauses.received(0, 400), "XOFF itself is not above XOFF");
        assert!(pauses.received(0, 1) && !pauses.received(0, 200), "asked once");
        assert_eq!((pauses.buffers[0].over, pauses.overflow()), (201, None));
        assert!(!pauses.received(1, 900), "the other buffer has room of its own");
        assert!(!pauses.released(0, 400) && !pauses.released(0, 100), "701 B are left");
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

    /// Half of what is free, of 4000 B.
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
        assert!(!pauses.released(0, 100), "headroom first, and 1300 B are above XON");
        assert!(!pauses.released(1, 900), "the sender of the other was not paused");
        // 3200 B are free with those that leave: XON is 1500 B.
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
