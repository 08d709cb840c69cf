//! Time as the contract shows it: UTC, cut to milliseconds before it is stored (contract 1.6).

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// 9999-12-31T23:59:59.999Z, the last moment that the form of contract 1.6 can write.
const LAST: i64 = 253_402_300_799_999;
const MILLIS_PER_DAY: i64 = 86_400_000;

impl Timestamp {
    /// A moment by its milliseconds since 1970; clamped to the years 1970 to 9999.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(0, LAST))
    }

    /// Milliseconds since 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970, cut.
    pub fn seconds(self) -> i64 {
        self.0 / 1000
    }

    /// This moment, or the one a millisecond after `former` if that is later: a change must show (contract 3.2).
    pub fn strictly_after(self, former: Self) -> Self {
        self.max(Self::from_millis(former.0.saturating_add(1)))
    }

    /// The text of contract 1.6, `2026-08-13T09:30:00.125Z`. Written by hand: forty of them go into one page of articles.
    pub fn text(self) -> TimestampText {
        let days = self.0 / MILLIS_PER_DAY;
        let millis = self.0 % MILLIS_PER_DAY;
        let (year, month, day) = civil_from_days(days);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let fields = [
            (0, 4, year),
            (5, 2, month),
            (8, 2, day),
            (11, 2, millis / 3_600_000),
            (14, 2, millis / 60_000 % 60),
            (17, 2, millis / 1000 % 60),
            (20, 3, millis % 1000),
        ];
        for (start, width, value) in fields {
            write_digits(&mut text, start, width, value);
        }
        TimestampText(text)
    }
}

/// The text of a [`Timestamp`], 24 ASCII characters on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampText([u8; 24]);

impl TimestampText {
    /// The text.
    pub fn as_str(&self) -> &str {
        // The bytes are ASCII by construction; the empty text is unreachable and better than a panic.
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

fn write_digits(text: &mut [u8; 24], start: usize, width: usize, value: i64) {
    let mut rest = value;
    for place in text.iter_mut().skip(start).take(width).rev() {
        *place = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
}

/// Year, month and day of the proleptic Gregorian calendar for a count of days since 1970 (0 or more), by eras of 400 years
/// that start on 1 March.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Where the time comes from: a parameter everywhere, so that tests can hold it still.
pub trait Clock: Send + Sync {
    /// The present moment, cut to milliseconds.
    fn now(&self) -> Timestamp;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_the_form_of_the_contract() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_786_613_400_125, "2026-08-13T09:30:00.125Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (LAST, "9999-12-31T23:59:59.999Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
            (-1, "1970-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).text().as_str(), text);
        }
    }

    #[test]
    fn a_change_lies_after_the_former_one_even_when_the_clock_stands_still() {
        let noon = Timestamp::from_millis(1_000);
        assert_eq!(noon.strictly_after(noon).millis(), 1_001);
        assert_eq!(noon.strictly_after(Timestamp::from_millis(5_000)).millis(), 5_001);
        assert_eq!(noon.strictly_after(Timestamp::from_millis(10)).millis(), 1_000);
    }
}
