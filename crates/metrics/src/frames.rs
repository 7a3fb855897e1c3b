//! Frames of the entire fabric at fixed steps for animations, with one byte per link and without names.

use becalm_engine::Time;

use crate::schema;
use crate::table::Table;
use crate::tree::Role;

/// Bytes per link and virtual lane in a frame.
pub const BYTES_PER_LINK: u64 = 5;

/// Converts a share from 0 to 1 to a byte. 1 becomes 255, and only 0 becomes 0.
pub fn byte(share: f64) -> u8 {
    if share > 0.0 { (share.min(1.0) * 255.0).round().max(1.0) as u8 } else { 0 }
}

/// The mean of two shares in bytes with these weights.
fn mean((a, of_a): (u8, u8), (b, of_b): (u8, u8)) -> u8 {
    let [a, of_a, b, of_b] = [a, of_a, b, of_b].map(f64::from);
    byte((a * of_a + b * of_b) / (of_a + of_b) / 255.0)
}

/// Keeps the items at some places.
fn keep<T>(items: &mut Vec<T>, at: impl Fn(usize) -> bool) {
    let mut place = 0..;
    items.retain(|_| place.next().is_some_and(&at));
}

/// State of one link and virtual lane in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Occupied share of the input buffer at the link's receiving end.
    pub occupancy: f64,
    /// Role of the link's output in a congestion tree.
    pub role: Role,
    /// Share of the time since the previous frame in which the link sent.
    pub busy: f64,
    /// Share of that time in which the link sent nothing while a packet waited for credit, on any virtual lane.
    pub stalled: f64,
    /// Share of the packets sent in that time that were marked here.
    pub marked: f64,
}

/// The frames, ordered by time and then by virtual lane.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    times: Vec<Time>,
    vls: Vec<u8>,
    /// `occupancy`, `role`, `busy`, `stalled` and `marked`, with one row of bytes per frame.
    rows: [Vec<Vec<u8>>; 5],
    groups: Groups,
}

/// Rates of groups between frames.
#[derive(Clone, Debug, Default)]
struct Groups {
    times: Vec<Time>,
    numbers: Vec<u32>,
    rates: Vec<f64>,
    marked: Vec<f64>,
}

impl Groups {
    /// Merges every two successive rows of each of this number of groups.
    fn merge_pairs(&mut self, groups: usize) {
        let is_second = |row: usize| row / groups % 2 == 1;
        for row in (0..self.times.len()).filter(|&row| is_second(row)) {
            // Without packets, the marked share is not a number.
            let marks = |row: usize| if self.rates[row] > 0.0 { self.rates[row] * self.marked[row] } else { 0.0 };
            let sum = self.rates[row] + self.rates[row - groups];
            self.marked[row] = (marks(row) + marks(row - groups)) / sum;
            self.rates[row] = sum / 2.0;
        }
        keep(&mut self.times, is_second);
        keep(&mut self.numbers, is_second);
        keep(&mut self.rates, is_second);
        keep(&mut self.marked, is_second);
    }

    /// Keeps this many rows and those at the next time, which becomes `end` in a `longer` time.
    fn end_at(&mut self, kept: usize, end: Time, longer: f64) {
        let late = self.times.get(kept).copied();
        let rows = kept + self.times[kept..].iter().take_while(|&&time| Some(time) == late).count();
        self.times.truncate(rows);
        self.numbers.truncate(rows);
        self.rates.truncate(rows);
        self.marked.truncate(rows);
        self.times[kept..].fill(end);
        self.rates[kept..].iter_mut().for_each(|rate| *rate *= longer);
    }
}

impl Frames {
    /// Adds a frame of one virtual lane: the states of all links, in order.
    pub fn push(&mut self, time: Time, vl: u8, links: impl Iterator<Item = State>) {
        self.times.push(time);
        self.vls.push(vl);
        self.rows.iter_mut().for_each(|rows| rows.push(Vec::with_capacity(links.size_hint().0)));
        for state in links {
            let bytes =
                [byte(state.occupancy), state.role as u8, byte(state.busy), byte(state.stalled), byte(state.marked)];
            for (rows, value) in self.rows.iter_mut().zip(bytes) {
                rows.last_mut().expect("pushed above").push(value);
            }
        }
    }

    /// Merges every two successive frames, which cover equal times, into one. There are these numbers of lanes and
    /// groups. A marked share of the new frame weights both former ones by bytes.
    pub fn merge_pairs(&mut self, lanes: usize, groups: usize) {
        let is_second = |row: usize| row / lanes % 2 == 1;
        let [occupancy, role, busy, stalled, marked] = &mut self.rows;
        for row in (0..busy.len()).filter(|&row| is_second(row)) {
            let before = row - lanes;
            for link in 0..busy[row].len() {
                let sent = (busy[before][link], busy[row][link]);
                marked[row][link] = mean((marked[before][link], sent.0), (marked[row][link], sent.1));
                busy[row][link] = mean((sent.0, 1), (sent.1, 1));
                stalled[row][link] = mean((stalled[before][link], 1), (stalled[row][link], 1));
            }
        }
        for rows in [occupancy, role, busy, stalled, marked] {
            keep(rows, is_second);
        }
        keep(&mut self.times, is_second);
        keep(&mut self.vls, is_second);
        self.groups.merge_pairs(groups);
    }

    /// Ends the last frame at `end`, and removes the later ones. Nothing happened after `end`.
    pub fn end_at(&mut self, end: Time) {
        let earlier = |times: &[Time]| times.partition_point(|&time| time < end);
        let kept = earlier(&self.times);
        let Some(&late) = self.times.get(kept).filter(|&&time| time > end) else { return };
        let begin = if kept > 0 { self.times[kept - 1] } else { Time::ZERO };
        let longer = late.since(begin).as_secs() / end.since(begin).as_secs();
        let lanes = self.times[kept..].iter().take_while(|&&time| time == late).count();
        self.times.truncate(kept + lanes);
        self.times[kept..].fill(end);
        self.vls.truncate(kept + lanes);
        let [occupancy, role, busy, stalled, marked] = &mut self.rows;
        for rows in [occupancy, role, marked] {
            rows.truncate(kept + lanes);
        }
        for rows in [busy, stalled] {
            rows.truncate(kept + lanes);
            rows[kept..].iter_mut().flatten().for_each(|share| *share = byte(f64::from(*share) / 255.0 * longer));
        }
        self.groups.end_at(earlier(&self.groups.times), end, longer);
    }

    /// Adds a group's delivered bytes per second since the previous frame, and the marked share of its packets.
    pub fn push_group(&mut self, time: Time, group: u32, rate: f64, marked: f64) {
        self.groups.times.push(time);
        self.groups.numbers.push(group);
        self.groups.rates.push(rate);
        self.groups.marked.push(marked);
    }

    /// The tables `frames` and `frames_groups`; `groups` are the names of the groups.
    pub fn tables(self, groups: &[String]) -> [Table; 2] {
        let seconds = |times: &[Time]| times.iter().map(|time| time.as_secs()).collect::<Vec<_>>();
        let [occupancy, role, busy, stalled, marked] = self.rows;
        let frames = Table::new(&schema::FRAMES)
            .with("time", seconds(&self.times))
            .with("vl", self.vls.iter().map(|&vl| u64::from(vl)).collect::<Vec<_>>())
            .with("occupancy", occupancy)
            .with("role", role)
            .with("busy", busy)
            .with("stalled", stalled)
            .with("marked", marked);
        let name = |&number: &u32| groups[number as usize].clone();
        let groups = Table::new(&schema::FRAMES_GROUPS)
            .with("time", seconds(&self.groups.times))
            .with("group", self.groups.numbers.iter().map(name).collect::<Vec<_>>())
            .with("rate", self.groups.rates)
            .with("marked_share", self.groups.marked);
        [frames, groups]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Data;

    #[test]
    fn only_nothing_is_zero_and_all_is_255() {
        assert_eq!([0.0, 1e-9, 0.5, 1.0, 1.5, f64::NAN].map(byte), [0, 1, 128, 255, 255, 0]);
    }

    #[test]
    fn a_merged_frame_has_the_mean_shares_of_both() {
        let mut frames = Frames::default();
        for (us, busy, marked) in [(1, 0.2, 0.0), (2, 0.6, 1.0), (3, 0.0, f64::NAN), (4, 0.0, f64::NAN)] {
            for vl in 0..2 {
                let state = State { occupancy: busy, role: Role::Root, busy, stalled: 1.0 - busy, marked };
                frames.push(Time::from_us(us), vl, std::iter::once(state));
            }
            frames.push_group(Time::from_us(us), 0, busy * 1e9, marked);
        }
        frames.merge_pairs(2, 1);
        assert_eq!((&frames.times[..], &frames.vls[..]), (&[2, 2, 4, 4].map(Time::from_us)[..], &[0, 1, 0, 1][..]));
        let row = |row: usize| frames.rows.each_ref().map(|rows| rows[row][0]);
        assert_eq!((row(0), row(3)), ([153, 1, 102, 153, 191], [0, 1, 0, 255, 0]));
        assert_eq!((frames.rows[4].len(), &frames.groups.rates[..]), (4, &[4e8, 0.0][..]));
        assert!((frames.groups.marked[0] - 0.75).abs() < 1e-12 && frames.groups.marked[1].is_nan());
    }

    #[test]
    fn the_last_frame_ends_with_the_run() {
        let state = State { occupancy: 0.0, role: Role::Calm, busy: 0.2, stalled: 0.4, marked: 1.0 };
        let mut frames = Frames::default();
        for us in [10, 20, 30] {
            for vl in 0..2 {
                frames.push(Time::from_us(us), vl, std::iter::once(state));
            }
            frames.push_group(Time::from_us(us), 0, 1e9, 0.5);
        }
        let mut all = frames.clone();
        all.end_at(Time::from_us(30));
        assert_eq!((all.times.len(), &all.rows[2][5]), (6, &vec![51]));
        frames.end_at(Time::from_us(15));
        assert_eq!(frames.times, [10, 10, 15, 15].map(Time::from_us));
        assert_eq!([2, 3, 4].map(|column| frames.rows[column][3][0]), [102, 204, 255]);
        assert!(frames.rows.iter().all(|rows| rows.len() == 4));
        assert_eq!((&frames.groups.rates[..], frames.groups.times[1]), (&[1e9, 2e9][..], Time::from_us(15)));
    }

    #[test]
    fn a_frame_is_a_row_of_bytes() {
        let mut frames = Frames::default();
        let state = |role| State { occupancy: 1.0, role, busy: 0.2, stalled: 0.0, marked: 0.4 };
        frames.push(Time::from_us(5), 1, [Role::Calm, Role::Root, Role::Branch].map(state).into_iter());
        frames.push_group(Time::from_us(5), 0, 2e9, 0.5);
        let [table, groups] = frames.tables(&["g".to_string()]);
        assert_eq!(table.column("role"), Some(&Data::Bytes(vec![vec![0, 1, 2]])));
        assert_eq!(table.column("busy"), Some(&Data::Bytes(vec![vec![51; 3]])));
        assert_eq!(groups.column("group"), Some(&Data::Text(vec!["g".to_string()])));
    }
}
