//! The paces that responses set, over time.

use becalm_engine::Time;

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
}

/// The gaps between packets that the flows of each group have to keep, read at fixed steps.
///
/// A gap is a multiple of a packet's own transmission time; the delay is the gap after a packet of the largest size on
/// the link of the flow's source. It is what the response asks for at that time, whether or not the flow sends.
#[derive(Clone, Debug, Default)]
pub struct Paces {
    samples: Vec<Sample>,
}

impl Paces {
    /// Takes in the flows of a group at a time, each with its gap and the transmission time of its largest packet. A
    /// group without flows is passed over.
    pub fn push(&mut self, time: Time, group: u32, flows: impl IntoIterator<Item = (f64, Time)>) {
        let mut sum = Sample { time, group, ..Sample::default() };
        let mut count = 0.0;
        for (gap, transmission) in flows {
            let delay = gap * transmission.as_secs();
            count += 1.0;
            sum.gap_mean += gap;
            sum.delay_mean += delay;
            sum.gap_max = sum.gap_max.max(gap);
            sum.delay_max = sum.delay_max.max(delay);
        }
        if count > 0.0 {
            self.samples.push(Sample { gap_mean: sum.gap_mean / count, delay_mean: sum.delay_mean / count, ..sum });
        }
    }

    /// All samples, with the groups' names.
    pub fn table(&self, groups: &[String]) -> Table {
        let column = |value: fn(&Sample) -> f64| self.samples.iter().map(value).collect::<Vec<_>>();
        Table::new("paces")
            .with("time", "s", column(|sample| sample.time.as_secs()))
            .with("group", "", self.samples.iter().map(|s| groups[s.group as usize].clone()).collect::<Vec<_>>())
            .with("gap_mean", "packet times", column(|sample| sample.gap_mean))
            .with("gap_max", "packet times", column(|sample| sample.gap_max))
            .with("delay_mean", "s", column(|sample| sample.delay_mean))
            .with("delay_max", "s", column(|sample| sample.delay_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Data;

    #[test]
    fn means_and_maxima_are_over_the_flows_of_a_group() {
        let mut paces = Paces::default();
        paces.push(Time::from_us(5), 1, [(1.0, Time::from_us(2)), (2.0, Time::from_us(4))]);
        paces.push(Time::from_us(5), 0, []);
        let table = paces.table(&["a".to_string(), "b".to_string()]);
        assert_eq!(table.column("group"), Some(&Data::Text(vec!["b".to_string()])));
        for (name, value) in
            [("time", 5e-6), ("gap_mean", 1.5), ("gap_max", 2.0), ("delay_mean", 5e-6), ("delay_max", 8e-6)]
        {
            let Some(Data::F64(values)) = table.column(name) else { panic!("{name}") };
            assert!((values[0] - value).abs() < 1e-15, "{name}: {values:?}");
        }
    }
}
