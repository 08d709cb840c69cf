//! Latencies: the whole histogram, so that those of several generators or repetitions merge exactly.

use anyhow::{Context, Result};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Microseconds, with three significant digits.
pub type Histogram = hdrhistogram::Histogram<u64>;

/// Latencies of the 2xx answers of one measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// In hdrhistogram's compressed V2 form, base64: what other programs that know the format read too.
    pub histogram: String,
    /// Half of them are not slower.
    pub p50_us: u64,
    /// 90 % of them are not slower.
    pub p90_us: u64,
    /// 95 % of them are not slower.
    pub p95_us: u64,
    /// 99 % of them are not slower.
    pub p99_us: u64,
    /// The slowest.
    pub max_us: u64,
}

/// An empty histogram of microseconds that grows as it must.
///
/// # Errors
/// None that can happen: three significant digits are within the format's range.
pub fn histogram() -> Result<Histogram> {
    Histogram::new(3).context("a histogram")
}

impl Latency {
    /// What a generator recorded.
    ///
    /// # Errors
    /// The histogram has more counts than the format can hold.
    pub fn of(recorded: &Histogram) -> Result<Self> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(recorded, &mut bytes)
            .context("writing a histogram")?;
        Ok(Self {
            histogram: base64::encode(&bytes),
            p50_us: recorded.value_at_quantile(0.5),
            p90_us: recorded.value_at_quantile(0.9),
            p95_us: recorded.value_at_quantile(0.95),
            p99_us: recorded.value_at_quantile(0.99),
            max_us: recorded.max(),
        })
    }

    /// The histogram itself.
    ///
    /// # Errors
    /// The text is no histogram.
    pub fn histogram(&self) -> Result<Histogram> {
        let bytes = base64::decode(&self.histogram)?;
        Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .context("reading a histogram")
    }

    /// Several as if they had been recorded as one, as those of generators that ran at the same time.
    ///
    /// # Errors
    /// One of the texts is no histogram.
    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Result<Self> {
        let mut sum = histogram()?;
        for part in parts {
            sum.add(part.histogram()?).context("adding histograms")?;
        }
        Self::of(&sum)
    }
}

/// Standard base64 as the histogram's own programs write it.
mod base64 {
    use ::base64::{Engine as _, engine::general_purpose::STANDARD};
    use anyhow::{Context, Result};

    pub(super) fn encode(bytes: &[u8]) -> String {
        STANDARD.encode(bytes)
    }

    pub(super) fn decode(text: &str) -> Result<Vec<u8>> {
        STANDARD.decode(text).context("a histogram's text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = histogram().unwrap();
        for &value in values {
            histogram.record(value).unwrap();
        }
        histogram
    }

    #[test]
    fn a_histogram_survives_its_text() {
        let recorded = of(&[1, 90, 4_000, 2_000_000, 2_000_000]);
        let latency = Latency::of(&recorded).unwrap();
        assert_eq!(latency.histogram().unwrap(), recorded);
        assert!(latency.histogram.starts_with("HISTF"), "{}", latency.histogram);
    }

    #[test]
    fn parts_merge_to_what_one_generator_would_have_recorded() {
        let (one, other) = ([80, 95, 1_200], [70, 88_000, 3, 3]);
        let merged = Latency::merged(
            [&of(&one), &of(&other)]
                .map(|part| Latency::of(part).unwrap())
                .iter(),
        )
        .unwrap();
        let whole = of(&[&one[..], &other].concat());
        assert_eq!(merged.histogram().unwrap(), whole);
        assert_eq!((merged.p50_us, merged.p99_us, whole.len()), (80, whole.max(), 7));
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        let good = Latency::of(&of(&[5])).unwrap();
        for text in ["", "?", "AAAA"] {
            let bad = Latency {
                histogram: text.to_owned(),
                ..good.clone()
            };
            assert!(bad.histogram().is_err(), "{text:?}");
            assert!(Latency::merged([&good, &bad]).is_err(), "{text:?}");
        }
    }
}
