//! Tests of the sending end of a flow.

use super::cut::Dropped;
use super::*;

const PACKETS: PacketConfig = PacketConfig {
    mtu: 2048,
    header: 20,
    ack: 20,
    cnp: 20,
    answers_vl: None,
    cnp_vl: None,
    train: 1,
    train_span: Time::MAX,
};

#[test]
fn cuts_messages_into_packets() {
    let mut sender = Sender { header: 20, ..Sender::default() };
    sender.post(SendRequest { at: Time(7), order: 0, bytes: 5000, count: 2 }, &PACKETS);
    let segments: Vec<_> = (0..6).map(|_| sender.next_segment(Time(9), 2048, 1)).collect();
    let sizes: Vec<_> = segments.iter().map(|p| (p.payload, p.last)).collect();
    assert_eq!(sizes[..3], [(2048, false), (2048, false), (904, true)]);
    assert_eq!(sizes[3..], sizes[..3]);
    assert!(!sender.may_send(1));
    assert_eq!(sender.posted_bytes, 2 * (5000 + 3 * 20));
}

/// Number of packets of the next message, and its bytes.
fn message(sender: &mut Sender, mtu: u32) -> (u64, u64) {
    let (mut packets, mut bytes) = (0, 0);
    loop {
        assert_eq!(sender.next_begins().is_some(), packets == 0, "a message has one beginning");
        let segment = sender.next_segment(Time(0), mtu, 1);
        (packets, bytes) = (packets + 1, bytes + u64::from(segment.payload));
        if segment.last {
            return (packets, bytes);
        }
    }
}

#[test]
fn messages_of_any_length_are_sent_to_the_byte() {
    const MTU: u32 = 1_000_003;
    let packets = PacketConfig { mtu: MTU, ..PACKETS };
    let sizes = [(1 << 32) - 2, (1 << 32) - 1, 1 << 32, 5_600_000_000, 100, u64::from(MTU) << 12];
    let packets_of = |bytes: u64| (bytes.div_ceil(MTU.into()), bytes);
    let mut sender = Sender { header: 20, ..Sender::default() };
    for (order, bytes) in (0..).zip(sizes) {
        sender.post(SendRequest { at: Time(0), order, bytes, count: 2 }, &packets);
    }
    for bytes in sizes {
        assert_eq!([0; 2].map(|_| message(&mut sender, MTU)), [packets_of(bytes); 2]);
    }
    assert!(!sender.has_packet());
    let on_wire = |&bytes: &u64| 2 * (bytes + 20 * packets_of(bytes).0);
    assert_eq!(sender.posted_bytes, sizes.iter().map(on_wire).sum::<u64>());
    sender.set_greedy(Some(1 << 33), Time::ZERO);
    assert_eq!([0; 2].map(|_| message(&mut sender, MTU)), [packets_of(1 << 33); 2]);
}

#[test]
fn an_empty_message_takes_one_packet() {
    let mut sender = Sender::default();
    sender.post(SendRequest { at: Time(0), order: 0, bytes: 0, count: 1 }, &PACKETS);
    assert_eq!(sender.next_segment(Time(0), 2048, 1), Segment { posted: Time(0), payload: 0, last: true });
}

#[test]
fn a_greedy_flow_sends_message_after_message() {
    let mut sender = Sender::default();
    sender.set_greedy(Some(5000), Time::ZERO);
    assert_eq!(sender.next_begins(), Some(Time::ZERO));
    let segments: Vec<_> = (0..4).map(|i| sender.next_segment(Time(i), 2048, 1)).collect();
    let expected = [(0, 2048, false), (0, 2048, false), (0, 904, true), (3, 2048, false)];
    let expected = expected.map(|(at, payload, last)| Segment { posted: Time(at), payload, last });
    assert_eq!(segments, expected);
    assert_eq!(sender.next_begins(), None);
    sender.post(SendRequest { at: Time(7), order: 0, bytes: 100, count: 1 }, &PACKETS);
    let segments: Vec<_> =
        (4..8).map(|i| sender.next_segment(Time(i), 2048, 1)).map(|p| (p.posted, p.payload)).collect();
    assert_eq!(segments, [(Time(3), 2048), (Time(3), 904), (Time(7), 100), (Time(7), 2048)]);
}

#[test]
fn packets_of_an_earlier_flow_are_not_under_way() {
    let mut sender = Sender::default();
    (0..3).for_each(|_| sender.sent(2068, 1));
    sender.begin_flow();
    (0..2).for_each(|_| sender.sent(2068, 1));
    sender.acknowledged(1, 1, false);
    assert_eq!((sender.in_flight, sender.acks, sender.knows(2), sender.knows(3)), (2, 1, false, true));
    sender.acknowledged(3, 2, false);
    assert_eq!(sender.in_flight, 1);
}

#[test]
fn an_ack_stands_for_the_packets_that_it_covers() {
    let mut sender = Sender::default();
    (0..5).for_each(|_| sender.sent(2068, 1));
    sender.acknowledged(2, 3, true);
    assert_eq!((sender.in_flight, sender.acks, sender.acks_marked), (2, 1, 1));
    sender.acknowledged(4, 2, false);
    assert_eq!((sender.in_flight, sender.acks, sender.acks_marked), (0, 2, 1));
}

/// Messages of several sizes, after `sent` packets of the first and then a cut.
fn after_cut(sizes: &[u64], sent: usize) -> (Dropped, Vec<(u64, u64)>, Sender) {
    let mut sender = Sender { header: 20, ..Sender::default() };
    for (order, &bytes) in (0..).zip(sizes) {
        sender.post(SendRequest { at: Time(0), order, bytes, count: 1 }, &PACKETS);
    }
    (0..sent).for_each(|_| assert!(!sender.next_segment(Time(0), 2048, 1).last));
    let dropped = sender.cut(&PACKETS);
    let mut rest = Vec::new();
    while sender.has_packet() {
        let segment = sender.next_segment(Time(0), 2048, 1);
        rest.push((u64::from(segment.payload), u64::from(segment.last)));
    }
    (dropped, rest, sender)
}

#[test]
fn a_cut_drops_messages_and_ends_the_current_one_with_a_packet() {
    let (dropped, rest, sender) = after_cut(&[9000, 100, 5000], 0);
    assert_eq!((dropped, rest), (Dropped { messages: 3, packets: 5 + 1 + 3 }, vec![]));
    assert_eq!((sender.posted_bytes, sender.posted_messages), (0, 0));
    let (dropped, rest, sender) = after_cut(&[9000, 100], 2);
    assert_eq!((dropped, rest), (Dropped { messages: 1, packets: 2 + 1 }, vec![(2048, 1)]));
    assert_eq!((sender.posted_bytes, sender.posted_messages), (3 * 2068, 1));
    let (dropped, rest, _) = after_cut(&[5000], 2);
    assert_eq!((dropped, rest), (Dropped::default(), vec![(904, 1)]), "its last packet is due");
    let long = 5_600_000_000;
    let (dropped, rest, sender) = after_cut(&[long, long, 7], 3);
    assert_eq!((dropped.packets, rest), (2 * long.div_ceil(2048) + 1 - 4, vec![(2048, 1)]));
    assert_eq!(sender.posted_bytes, 4 * 2068);
}
