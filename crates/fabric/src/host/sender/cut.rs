//! The end of a flow's messages before they are sent completely.

use super::rare::LONG;
use super::{Partial, Sender, Waiting};
use crate::config::PacketConfig;

/// What is not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// Messages that have not begun.
    pub messages: usize,
    /// Packets, including those of the message that has been partly sent.
    pub packets: u64,
}

impl Sender {
    /// Drops the posted messages that have not begun. If one has been partly sent, its next packet is its last. Every
    /// request must be for one message, as those of jobs are.
    pub fn cut(&mut self, packets: &PacketConfig) -> Dropped {
        debug_assert!(self.first.count <= 1);
        let mut waiting: Vec<Waiting> = self.more.take().map_or(Vec::new(), |more| (*more).into());
        self.has_more = false;
        let mut dropped = Dropped::default();
        let mut payload = 0;
        if self.partial == Partial::Posted {
            payload = self.shorten(packets.mtu);
            dropped.packets = payload.div_ceil(u64::from(packets.mtu));
        } else if self.first.count > 0 {
            waiting.insert(0, std::mem::take(&mut self.first));
        }
        for each in waiting {
            let mut long = || self.rare.as_mut().and_then(|rare| rare.long.pop_front());
            let bytes = if each.bytes == LONG { long().unwrap_or(0) } else { u64::from(each.bytes) };
            dropped.messages += each.count as usize;
            dropped.packets += u64::from(each.count) * packets.packets_of(bytes);
            payload += u64::from(each.count) * bytes;
        }
        self.posted_bytes -= payload + dropped.packets * u64::from(self.header);
        self.posted_messages -= dropped.messages as u64;
        dropped
    }

    /// Makes the next packet the last of the message that has been partly sent. Returns the payload that is not sent.
    fn shorten(&mut self, mtu: u32) -> u64 {
        let later = self.rare.as_mut().filter(|_| self.goes_on).map_or(0, |rare| rare.drop_rest());
        self.goes_on = false;
        let kept = self.rest.min(mtu);
        let payload = later + u64::from(self.rest - kept);
        self.rest = kept;
        payload
    }
}
