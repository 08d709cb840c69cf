//! What repetitions say: medians with their range, and whether two of them differ.

use std::cmp::Ordering;

/// Measurements of a cell below which no verdict is given.
pub const REPETITIONS: usize = 3;

/// How far ratios of the same pair of layouts may lie apart before the run counts as noisy: (largest - smallest) / smallest.
pub const AGREEMENT: f64 = 0.10;

/// A difference of medians below this share is a tie even where the ranges happen not to overlap: three and three equal
/// measurements do so once in ten times.
pub const SMALLEST: f64 = 0.03;

/// Repetitions of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle one; between the middle two if their count is even.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// How many.
    pub count: usize,
}

/// What two layouts' figures say about each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They cannot be told apart.
    Tie,
    /// The first one's is smaller.
    Less,
    /// The first one's is larger.
    More,
    /// Too few repetitions to say.
    TooFew,
}

/// One figure of a layout beside that of another one, measured in turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The first one's median by the second one's.
    pub ratio: f64,
    /// Whether that means anything.
    pub verdict: Verdict,
    /// How far the ratios of the single pairs lie apart: (largest - smallest) / smallest.
    pub disagreement: f64,
}

impl Spread {
    /// `None` for no values, or if one is no number.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        if sorted.iter().any(|value| value.is_nan()) {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        let upper = *sorted.get(sorted.len() / 2)?;
        let lower = *sorted.get((sorted.len() - 1) / 2)?;
        Some(Self {
            median: f64::midpoint(lower, upper),
            min: *sorted.first()?,
            max: *sorted.last()?,
            count: sorted.len(),
        })
    }

    /// Whether some value may be of both.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min <= other.max && other.min <= self.max
    }

    /// Whether this one is larger than the other, as far as their repetitions tell.
    #[must_use]
    pub fn against(&self, other: &Self) -> Verdict {
        if self.count < REPETITIONS || other.count < REPETITIONS {
            return Verdict::TooFew;
        }
        let near = (self.median - other.median).abs() <= SMALLEST * other.median.abs();
        if near || self.overlaps(other) {
            return Verdict::Tie;
        }
        match self.median.total_cmp(&other.median) {
            Ordering::Less => Verdict::Less,
            Ordering::Equal => Verdict::Tie,
            Ordering::Greater => Verdict::More,
        }
    }
}

impl Comparison {
    /// Of figures that were measured next to each other, repetition by repetition. `None` for no pairs, or where the second
    /// one's figure is nought.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let first = Spread::of(pairs.iter().map(|pair| pair.0))?;
        let second = Spread::of(pairs.iter().map(|pair| pair.1))?;
        if second.min <= 0.0 {
            return None;
        }
        let ratios = Spread::of(pairs.iter().map(|(first, second)| first / second))?;
        let disagreement = if ratios.min > 0.0 {
            ratios.max / ratios.min - 1.0
        } else {
            0.0
        };
        Some(Self {
            ratio: first.median / second.median,
            verdict: first.against(&second),
            disagreement,
        })
    }

    /// Whether the pairs disagree by more than [`AGREEMENT`].
    #[must_use]
    pub fn is_noisy(&self) -> bool {
        self.disagreement > AGREEMENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_has_its_range() {
        let table: &[(&[f64], Option<[f64; 3]>)] = &[
            (&[], None),
            (&[f64::NAN, 1.0], None),
            (&[7.0], Some([7.0, 7.0, 7.0])),
            (&[9.0, 1.0], Some([5.0, 1.0, 9.0])),
            (&[3.0, 1.0, 2.0], Some([2.0, 1.0, 3.0])),
            (&[4.0, 1.0, 2.0, 100.0], Some([3.0, 1.0, 100.0])),
        ];
        for (values, expected) in table {
            let spread = Spread::of(values.iter().copied());
            let told = spread.map(|spread| [spread.median, spread.min, spread.max]);
            assert_eq!(told, *expected, "{values:?}");
        }
    }

    #[test]
    fn ranges_that_overlap_are_a_tie() {
        let table: &[(&[f64], &[f64], Verdict)] = &[
            (&[10.0, 11.0, 12.0], &[12.0, 13.0, 14.0], Verdict::Tie),
            (&[10.0, 11.0, 11.9], &[12.0, 13.0, 14.0], Verdict::Less),
            (&[15.0, 16.0, 17.0], &[12.0, 13.0, 14.0], Verdict::More),
            (&[10.0, 10.0, 10.0], &[10.0, 10.0, 10.0], Verdict::Tie),
            // Apart, and yet nearer than anybody should care.
            (&[100.0, 100.5, 101.0], &[101.5, 102.0, 103.0], Verdict::Tie),
            // One range inside the other.
            (&[5.0, 50.0, 60.0], &[12.0, 13.0, 14.0], Verdict::Tie),
            (&[10.0, 11.0], &[20.0, 21.0, 22.0], Verdict::TooFew),
            (&[10.0, 11.0, 12.0], &[20.0], Verdict::TooFew),
        ];
        for (first, second, expected) in table {
            let of = |values: &[f64]| Spread::of(values.iter().copied()).unwrap();
            assert_eq!(of(first).against(&of(second)), *expected, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_ratio_is_that_of_the_medians_and_its_pairs_tell_noise() {
        let calm = Comparison::of(&[(20.0, 10.0), (21.0, 10.4), (30.0, 15.0)]).unwrap();
        assert_eq!((calm.ratio * 100.0).round(), 202.0);
        assert_eq!(calm.verdict, Verdict::More);
        assert!(!calm.is_noisy(), "{calm:?}");
        let noisy = Comparison::of(&[(20.0, 10.0), (24.0, 10.0), (20.0, 10.0)]).unwrap();
        assert!(noisy.is_noisy(), "{noisy:?}");
    }

    #[test]
    fn nothing_is_no_comparison() {
        assert_eq!(Comparison::of(&[]), None);
        assert_eq!(Comparison::of(&[(1.0, 0.0)]), None);
    }
}
