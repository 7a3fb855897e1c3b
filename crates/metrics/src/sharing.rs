//! Max-min fair rates of flows that share links (Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use becalm_engine::order;

/// A part of a flow's path: a link, and the share of the flow's packets that crosses it.
pub type Crossing = (u32, f64);

/// The remaining capacity of a link.
#[derive(Clone, Copy, Debug)]
struct Left {
    room: f64,
    /// Sum of the shares of flows whose rate is not yet known.
    waiting: f64,
}

impl Left {
    /// The rate that each waiting flow would get.
    fn level(self) -> f64 {
        self.room.max(0.0) / self.waiting
    }
}

/// The max-min fair rate of each flow. No flow can get more without reducing the rate of another flow whose rate is not
/// larger, and no flow exceeds its demand.
///
/// `paths` are the links of each flow, as indices into `capacities`; a demand may be infinite if the path has a link.
/// Rates have the unit of demands and capacities.
pub fn max_min<P: Iterator<Item = Crossing>>(
    paths: impl Fn(usize) -> P,
    demands: &[f64],
    capacities: &[f64],
) -> Vec<f64> {
    let mut links: Vec<Left> = capacities.iter().map(|&room| Left { room, waiting: 0.0 }).collect();
    let mut crossing: Vec<Vec<u32>> = vec![Vec::new(); capacities.len()];
    for flow in 0..demands.len() {
        for (link, share) in paths(flow) {
            links[link as usize].waiting += share;
            crossing[link as usize].push(flow as u32);
        }
    }
    let mut by_demand: Vec<u32> = (0..demands.len() as u32).collect();
    order::sort_by(&mut by_demand, |&a, &b| demands[b as usize].total_cmp(&demands[a as usize]).then(b.cmp(&a)));
    // Levels only rise. A link whose level has risen since it was pushed is pushed again. The bit patterns of positive
    // numbers sort like the numbers.
    let used = (0u32..).zip(&links).filter(|(_, left)| left.waiting > 0.0);
    let mut heap: BinaryHeap<_> = used.map(|(link, left)| Reverse((left.level().to_bits(), link))).collect();
    let mut rates = vec![f64::NAN; demands.len()];
    let settle = |flow: u32, rate: f64, rates: &mut Vec<f64>, links: &mut Vec<Left>| {
        rates[flow as usize] = rate;
        for (link, share) in paths(flow as usize) {
            let left = &mut links[link as usize];
            left.room -= rate * share;
            left.waiting -= share;
        }
    };
    loop {
        while by_demand.pop_if(|&mut flow| !rates[flow as usize].is_nan()).is_some() {}
        let Some(&least) = by_demand.last() else { return rates };
        let full = loop {
            let Some(Reverse((bits, link))) = heap.pop() else { break None };
            let left = links[link as usize];
            // Adding and subtracting shares leaves a rounding error.
            if left.waiting < 1e-9 {
                continue;
            }
            if left.level().to_bits() <= bits {
                break Some((left.level(), link));
            }
            heap.push(Reverse((left.level().to_bits(), link)));
        };
        match full {
            Some((level, link)) if level < demands[least as usize] => {
                for &flow in &crossing[link as usize] {
                    if rates[flow as usize].is_nan() {
                        settle(flow, level, &mut rates, &mut links);
                    }
                }
            }
            full => {
                if let Some((level, link)) = full {
                    heap.push(Reverse((level.to_bits(), link)));
                }
                settle(least, demands[least as usize], &mut rates, &mut links);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(paths: &[&[u32]], demands: &[f64], capacities: &[f64]) -> Vec<f64> {
        let rates = max_min(|flow| paths[flow].iter().map(|&link| (link, 1.0)), demands, capacities);
        rates.into_iter().map(|rate| (rate * 1e9).round() / 1e9).collect()
    }

    const ENDLESS: f64 = f64::INFINITY;

    #[test]
    fn the_flow_over_all_links_of_a_parking_lot_has_half() {
        assert_eq!(rates(&[&[0, 1, 2], &[0], &[1], &[2]], &[ENDLESS; 4], &[1.0; 3]), [0.5; 4]);
    }

    #[test]
    fn what_one_leaves_is_for_the_others() {
        // An example like Bertsekas and Gallager's: link 0 has three flows, link 1 the other two.
        let paths: [&[u32]; 4] = [&[0], &[0], &[0, 1], &[1]];
        let third = 0.333333333;
        assert_eq!(rates(&paths, &[ENDLESS; 4], &[1.0; 2]), [third, third, third, 0.666666667]);
        assert_eq!(rates(&paths, &[0.1, ENDLESS, ENDLESS, 0.2], &[1.0; 2]), [0.1, 0.45, 0.45, 0.2]);
    }

    #[test]
    fn nobody_gets_more_than_demanded_nor_more_than_there_is() {
        assert_eq!(rates(&[&[0], &[], &[0]], &[0.25, 7.0, ENDLESS], &[2.0]), [0.25, 7.0, 1.75]);
        assert_eq!(rates(&[&[0], &[0]], &[ENDLESS; 2], &[0.0]), [0.0; 2]);
    }

    #[test]
    fn a_flow_over_equal_ports_takes_its_share_of_each() {
        let paths = [vec![(0, 0.5), (1, 0.5)], vec![(0, 1.0)]];
        let rates = max_min(|flow| paths[flow].iter().copied(), &[ENDLESS; 2], &[1.0, 1.0]);
        assert!((rates[0] - 2.0 / 3.0).abs() < 1e-9 && (rates[1] - 2.0 / 3.0).abs() < 1e-9, "{rates:?}");
    }
}
