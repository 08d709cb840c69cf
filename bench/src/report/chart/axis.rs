//! An axis with marks of our own choice; plotters' own either choose them alone or cannot write them.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// From the start of the range to its end, which may be the smaller one.
pub(super) struct Axis<'a> {
    pub(super) range: Range<f64>,
    /// Where lines and labels stand.
    pub(super) marks: Vec<f64>,
    pub(super) label: Box<dyn Fn(f64) -> String + 'a>,
}

impl Ranged for Axis<'_> {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[allow(clippy::cast_possible_truncation, reason = "pixels of a chart")]
    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis<'_> {
    fn format_ext(&self, value: &f64) -> String {
        (self.label)(*value)
    }
}
