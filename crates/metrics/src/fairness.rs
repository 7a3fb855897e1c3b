//! Fairness of sharing a resource.

/// Jain's fairness index (sum x)^2 / (n sum x^2). It is 1 if all shares are equal, and 1/n if one user gets everything.
///
/// It is NaN if there are no shares or all shares are zero.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    sum * sum / (shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_for_equal_shares_and_one_in_n_for_a_single_winner() {
        assert_eq!(jain(&[0.25; 4]), 1.0);
        assert_eq!(jain(&[0.7, 0.0, 0.0, 0.0]), 0.25);
        assert_eq!(jain(&[1.0, 2.0, 3.0]), 36.0 / 42.0);
    }

    #[test]
    fn is_undefined_without_any_share() {
        assert!(jain(&[]).is_nan());
        assert!(jain(&[0.0, 0.0]).is_nan());
    }
}
