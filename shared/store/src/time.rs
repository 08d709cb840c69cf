//! Time between the domain and the columns: the one place that converts.

use ::time::OffsetDateTime;
use conduit_domain::Timestamp;

const NANOS_PER_MILLI: i128 = 1_000_000;

/// The moment as a `timestamptz` column takes it.
pub fn to_column(moment: Timestamp) -> OffsetDateTime {
    let nanos = i128::from(moment.millis()) * NANOS_PER_MILLI;
    // A timestamp lies between the years 1970 and 9999, which the column's type holds; the default is unreachable.
    OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// The moment that a `timestamptz` column holds, cut to milliseconds (contract 1.6).
pub fn from_column(moment: OffsetDateTime) -> Timestamp {
    let millis = moment.unix_timestamp_nanos().div_euclid(NANOS_PER_MILLI);
    // Out of range only where somebody else wrote the column; the nearest moment that the contract can show.
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use ::time::Duration;

    use super::*;

    #[test]
    fn moments_come_back_as_they_went() {
        for millis in [0, 1, 999, 1_786_613_400_125, i64::MAX] {
            let moment = Timestamp::from_millis(millis);
            assert_eq!(from_column(to_column(moment)), moment);
        }
    }

    #[test]
    fn what_is_finer_than_a_millisecond_is_cut() {
        let moment = to_column(Timestamp::from_millis(5)) + Duration::nanoseconds(999_999);
        assert_eq!(from_column(moment).millis(), 5);
    }
}
