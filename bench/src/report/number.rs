//! Figures as people read them.

use crate::stats::{Comparison, Spread, Verdict};

/// What stands where there is no figure.
pub(crate) const NONE: &str = "–";

/// Between groups of three digits; does not break a line.
const GROUP: char = '\u{202f}';

/// Three significant digits, and never fewer than there are before the point.
pub(crate) fn figure(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size >= 99.5 || size == 0.0 => 0,
        _ if size >= 9.95 => 1,
        _ if size >= 0.095 => 2,
        _ => 3,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// As [`figure`], without noughts that say nothing: for axes and limits.
pub(crate) fn figure_plain(value: f64) -> String {
    plain(&figure(value))
}

fn plain(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

/// A whole number.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// The median, with its range where there are several measurements.
pub(crate) fn spread(spread: Option<Spread>) -> String {
    match spread {
        None => NONE.to_owned(),
        Some(spread) => {
            let (median, min, max) = (figure(spread.median), figure(spread.min), figure(spread.max));
            if min == max {
                median
            } else {
                format!("{median} [{min}–{max}]")
            }
        }
    }
}

/// A figure, if there is one.
pub(crate) fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), figure)
}

/// A ratio as a factor.
pub(crate) fn factor(ratio: f64) -> String {
    format!("{ratio:.2} ×")
}

/// A ratio with what it is worth. `words` are for less and for more.
pub(crate) fn comparison(comparison: Option<Comparison>, words: (&str, &str)) -> String {
    let Some(comparison) = comparison else {
        return NONE.to_owned();
    };
    format!(
        "{}, {}",
        factor(comparison.ratio),
        verdict(comparison.verdict, words)
    )
}

/// A verdict. `words` are for less and for more.
pub(crate) fn verdict<'a>(verdict: Verdict, words: (&'a str, &'a str)) -> &'a str {
    match verdict {
        Verdict::Tie => "tie",
        Verdict::Less => words.0,
        Verdict::More => words.1,
        Verdict::TooFew => "too few repetitions",
    }
}

/// A share in per cent; what is not nought does not look like it.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.01 {
        "< 0.01 %".to_owned()
    } else if percent < 0.1 {
        format!("{} %", plain(&format!("{percent:.2}")))
    } else {
        format!("{} %", plain(&format!("{percent:.1}")))
    }
}

/// Mebibytes.
#[allow(clippy::cast_precision_loss, reason = "memory sizes stay below 2^53")]
pub(crate) fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Milliseconds.
#[allow(
    clippy::cast_precision_loss,
    reason = "durations stay below 2^53 microseconds"
)]
pub(crate) fn milliseconds(us: u64) -> f64 {
    us as f64 / 1000.0
}

/// A count as a number to calculate with.
#[allow(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && index < whole && (whole - index) % 3 == 0 {
            text.push(GROUP);
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let table = [
            (0.0, "0"),
            (0.0123, "0.012"),
            (0.5, "0.50"),
            (9.949, "9.95"),
            (9.96, "10.0"),
            (99.4, "99.4"),
            (115.4, "115"),
            (8154.2, "8\u{202f}154"),
            (-1234567.0, "-1\u{202f}234\u{202f}567"),
        ];
        for (value, text) in table {
            assert_eq!(figure(value), text, "{value}");
        }
    }

    #[test]
    fn what_is_little_is_not_nought() {
        let table = [
            (0.0, "0 %"),
            (0.000_01, "< 0.01 %"),
            (0.000_21, "0.02 %"),
            (0.01, "1 %"),
            (0.123_4, "12.3 %"),
        ];
        for (share, text) in table {
            assert_eq!(percent(share), text, "{share}");
        }
    }

    #[test]
    fn a_single_measurement_has_no_range() {
        assert_eq!(spread(None), "–");
        assert_eq!(spread(Spread::of([80.0])), "80.0");
        assert_eq!(spread(Spread::of([80.0, 90.0, 85.0])), "85.0 [80.0–90.0]");
    }
}
