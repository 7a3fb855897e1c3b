//! The paces that responses set, over time.

use becalm_engine::Time;
use becalm_fabric::policy::Pace;

use crate::schema;
use crate::table::Table;

/// The paces of a group's flows at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sample {
    time: Time,
    group: u32,
    gap_mean: f64,
    gap_max: f64,
    delay_mean: f64,
    delay_max: f64,
    flows: f64,
    window_sum: f64,
}

/// For each group, the gaps that flows must keep between packets, and the flows' windows, read at fixed steps.
///
/// A gap is a multiple of a packet's transmission time, and the delay is the gap after a packet of the largest size on
/// the source's link. A window is the number of packets that may be in flight, which is infinite without a limit. Gaps
/// and windows are the response's settings at that time, whether or not the flow sends.
#[derive(Clone, Debug, Default)]
pub struct Paces {
    samples: Vec<Sample>,
}

impl Paces {
    /// Records a group's flows at one time, with each flow's pace and the transmission time of its largest packet. A
    /// group without flows is skipped.
    pub fn push(&mut self, time: Time, group: u32, flows: impl IntoIterator<Item = (Pace, Time)>) {
        let mut sum = Sample { time, group, ..Sample::default() };
        for (Pace { gap, window }, transmission) in flows {
            let delay = gap * transmission.as_secs();
            sum.flows += 1.0;
            sum.gap_mean += gap;
            sum.window_sum += if window == u32::MAX { f64::INFINITY } else { f64::from(window) };
            sum.delay_mean += delay;
            sum.gap_max = sum.gap_max.max(gap);
            sum.delay_max = sum.delay_max.max(delay);
        }
        if sum.flows > 0.0 {
            let (gap_mean, delay_mean) = (sum.gap_mean / sum.flows, sum.delay_mean / sum.flows);
            self.samples.push(Sample { gap_mean, delay_mean, ..sum });
        }
    }

    /// Removes the samples after `end`.
    pub fn end_at(&mut self, end: Time) {
        self.samples.retain(|sample| sample.time <= end);
    }

    /// All samples, with the groups' names.
    pub fn table(&self, groups: &[String]) -> Table {
        let column = |value: fn(&Sample) -> f64| self.samples.iter().map(value).collect::<Vec<_>>();
        Table::new(&schema::PACES)
            .with("time", column(|sample| sample.time.as_secs()))
            .with("group", self.samples.iter().map(|s| groups[s.group as usize].clone()).collect::<Vec<_>>())
            .with("gap_mean", column(|sample| sample.gap_mean))
            .with("gap_max", column(|sample| sample.gap_max))
            .with("delay_mean", column(|sample| sample.delay_mean))
            .with("delay_max", column(|sample| sample.delay_max))
            .with("window_mean", column(|sample| sample.window_sum / sample.flows))
            .with("window_sum", column(|sample| sample.window_sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Data;

    #[test]
    fn means_and_maxima_are_over_the_flows_of_a_group() {
        let mut paces = Paces::default();
        let pace = |gap, window| Pace { gap, window };
        paces.push(Time::from_us(5), 1, [(pace(1.0, 3), Time::from_us(2)), (pace(2.0, 8), Time::from_us(4))]);
        paces.push(Time::from_us(5), 0, []);
        paces.push(Time::from_us(5), 1, [(Pace::FREE, Time::from_us(2))]);
        let table = paces.table(&["a".to_string(), "b".to_string()]);
        assert_eq!(table.column("group"), Some(&Data::Text(vec!["b".to_string(); 2])));
        let values = |name: &str| match table.column(name) {
            Some(Data::F64(values)) => values.clone(),
            _ => panic!("{name}"),
        };
        let first = [
            ("time", 5e-6),
            ("gap_mean", 1.5),
            ("gap_max", 2.0),
            ("delay_mean", 5e-6),
            ("delay_max", 8e-6),
            ("window_mean", 5.5),
            ("window_sum", 11.0),
        ];
        for (name, value) in first {
            assert!((values(name)[0] - value).abs() < 1e-15, "{name}: {:?}", values(name));
        }
        assert_eq!(values("window_sum")[1], f64::INFINITY);
    }
}
