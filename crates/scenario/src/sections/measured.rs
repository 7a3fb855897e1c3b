//! Measured distributions of sizes, from a list of names or from files of points.

use std::sync::{Arc, LazyLock};

use becalm_fabric::{Cdf, CdfError};

/// Largest size in a file: 1 GiB.
const LARGEST: f64 = 1_073_741_824.0;
/// Largest number of points in a file.
const MOST_POINTS: usize = 100_000;

/// Web search (Alizadeh et al., DCTCP, SIGCOMM 2010), as in HPCC's traffic generator.
const WEBSEARCH: &[(u32, f64)] = &[
    (0, 0.0),
    (10_000, 15.0),
    (20_000, 20.0),
    (30_000, 30.0),
    (50_000, 40.0),
    (80_000, 53.0),
    (200_000, 60.0),
    (1_000_000, 70.0),
    (2_000_000, 80.0),
    (5_000_000, 90.0),
    (10_000_000, 97.0),
    (30_000_000, 100.0),
];

/// Hadoop at Facebook (Roy et al., SIGCOMM 2015), as in HPCC's traffic generator.
const FB_HADOOP: &[(u32, f64)] = &[
    (0, 0.0),
    (100, 1.0),
    (200, 2.0),
    (300, 5.0),
    (350, 15.0),
    (400, 20.0),
    (500, 30.0),
    (600, 40.0),
    (700, 50.0),
    (1_000, 60.0),
    (2_000, 67.0),
    (7_000, 70.0),
    (30_000, 72.0),
    (50_000, 82.0),
    (80_000, 87.0),
    (120_000, 90.0),
    (300_000, 95.0),
    (1_000_000, 97.5),
    (2_000_000, 99.0),
    (10_000_000, 100.0),
];

/// Storage at Alibaba, 2019, as in HPCC's traffic generator.
const ALI_STORAGE: &[(u32, f64)] = &[
    (0, 0.0),
    (4_000, 22.93),
    (8_000, 69.21),
    (16_000, 80.61),
    (32_000, 90.47),
    (64_000, 93.53),
    (128_000, 96.77),
    (256_000, 97.53),
    (2_000_000, 100.0),
];

/// The named distributions.
pub static NAMED: LazyLock<[(&str, Arc<Cdf>); 3]> = LazyLock::new(|| {
    [("websearch", WEBSEARCH), ("fb_hadoop", FB_HADOOP), ("ali_storage", ALI_STORAGE)].map(|(name, points)| {
        let points = points.iter().map(|&(bytes, percent)| (f64::from(bytes), percent)).collect();
        (name, Arc::new(Cdf::new(points).expect("the points are right")))
    })
});

/// Reads a file of points. Each line has a size in bytes and the percentage of sizes up to it, from 0 to 100,
/// separated by blanks or a comma. `#` begins a comment. HPCC's traffic generator uses the same format.
///
/// # Errors
/// All mistakes, each with the name of the file and the line number.
pub fn parse(text: &str, file: &str) -> Result<Cdf, Vec<String>> {
    let (mut points, mut lines, mut mistakes) = (Vec::new(), Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        match point(content) {
            Ok(point) => {
                points.push(point);
                lines.push(number);
            }
            Err(problem) => mistakes.push(format!("{file}:{number}: `{}`: {problem}", short(content))),
        }
        if points.len() > MOST_POINTS {
            return Err(vec![format!("{file}:{number}: there are more than {MOST_POINTS} points")]);
        }
    }
    let falls = |pair: &&[(f64, f64)]| Cdf::new(pair.to_vec()) == Err(CdfError::Falls(1));
    for (at, _) in points.windows(2).enumerate().filter(|(_, pair)| falls(pair)) {
        mistakes.push(format!("{file}:{}: {}", lines[at + 1], CdfError::Falls(at + 1)));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let place = |error| match error {
        CdfError::Begin => lines.first().copied(),
        _ => lines.last().copied(),
    };
    Cdf::new(points).map_err(|error| match place(error) {
        Some(line) => vec![format!("{file}:{line}: the distribution {error}")],
        None => vec![format!("{file}: the distribution {error}")],
    })
}

/// A size and its percentage.
fn point(content: &str) -> Result<(f64, f64), String> {
    let words: Vec<&str> = content.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
    let [bytes, percent] = words[..] else {
        return Err(format!("must be two numbers, a size in bytes and a percentage, not {}", words.len()));
    };
    let number = |word: &str| word.parse::<f64>().ok().filter(|number| number.is_finite());
    let bytes = number(bytes).filter(|bytes| (0.0..=LARGEST).contains(bytes));
    let percent = number(percent).filter(|percent| (0.0..=100.0).contains(percent));
    let bytes = bytes.ok_or_else(|| format!("the size must be a number of bytes from 0 to {LARGEST}"))?;
    Ok((bytes, percent.ok_or("the percentage must be a number from 0 to 100")?))
}

/// A line as shown in a message: truncated if it is long, and without control characters.
fn short(line: &str) -> String {
    line.chars().take(40).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distributions_have_their_means() {
        let means: Vec<u64> = NAMED.iter().map(|(_, cdf)| cdf.whole_mean()).collect();
        assert_eq!(means, [1_711_250, 120_421, 40_870]);
        // Mean numbers of packets of 1000 B, summed over the points by hand.
        for ((name, cdf), packets) in NAMED.iter().zip([1711.75, 120.91, 41.37]) {
            let found = cdf.mean_pieces(1000.0, cdf.whole_mean());
            assert!((found - packets).abs() < 0.005, "{name}: {found}");
        }
    }

    #[test]
    fn a_file_of_points_is_read() {
        let cdf = parse("# sizes\n0 0\n\n1000, 50 # half\n3e3\t100\n", "s.txt").unwrap();
        assert_eq!(cdf.points(), [(0.0, 0.0), (1000.0, 50.0), (3000.0, 100.0)]);
    }

    #[test]
    fn every_mistake_has_its_line() {
        let errors = |text: &str| parse(text, "s.txt").unwrap_err().join("\n");
        assert_eq!(
            errors("0 0\n10 x\n-1 5\n5\n20 50\n10 60\n1e12 70\n30 101\n30 100\n"),
            "s.txt:2: `10 x`: the percentage must be a number from 0 to 100\n\
             s.txt:3: `-1 5`: the size must be a number of bytes from 0 to 1073741824\n\
             s.txt:4: `5`: must be two numbers, a size in bytes and a percentage, not 1\n\
             s.txt:7: `1e12 70`: the size must be a number of bytes from 0 to 1073741824\n\
             s.txt:8: `30 101`: the percentage must be a number from 0 to 100\n\
             s.txt:6: must increase the size or the percentage, and decrease neither"
        );
        assert_eq!(errors(""), "s.txt: the distribution has fewer than two points");
        assert_eq!(errors("\n10 15\n20 100"), "s.txt:2: the distribution must begin at 0%, as in `0 0`");
        assert_eq!(errors("0 0\n20 1"), "s.txt:2: the distribution must end at 100%");
        assert_eq!(errors("0 0\n0 100"), "s.txt:2: the distribution has a mean below 1 B");
    }
}
