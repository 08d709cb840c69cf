//! Bounds for processor time, by control groups of either version.
//!
//! A group bounds how much processor time its processes take together in each tenth of a second, and on which cores they run. Groups
//! are made beside this process's own, need the right to do so (root, or a folder that was handed over), and go with the value.

mod groups;

use anyhow::{Context, Result, ensure};
pub use groups::{Group, Version};

use crate::results::Split;

/// A hundred milliseconds, the kernel's own default.
const PERIOD_US: u64 = 100_000;

/// What a group may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Thousandths of a core; none is as much as there is.
    pub millicores: Option<u32>,
    /// Cores as the kernel lists them, `0-1,4`; none is any.
    pub cores: Option<String>,
}

impl Bounds {
    /// Microseconds in each period.
    fn quota_us(&self) -> Option<u64> {
        self.millicores
            .map(|millicores| u64::from(millicores) * PERIOD_US / 1000)
    }
}

/// Divides a budget among processes. `used`: what each used in an earlier cell, in the same order, for [`Split::Measured`].
///
/// # Errors
/// There is nobody to divide it among, or nothing is known of what they used.
pub fn shares(millicores: u32, split: Split, processes: u32, used: &[u64]) -> Result<Vec<u32>> {
    ensure!(processes > 0, "there is no process to give a budget to");
    match split {
        Split::Shared => Ok(vec![millicores]),
        Split::Even => Ok((0..processes).map(|_| (millicores / processes).max(1)).collect()),
        Split::Measured => {
            let all: u64 = used.iter().sum();
            ensure!(
                all > 0 && used.len() == usize::try_from(processes)?,
                "nothing is known of what each process used"
            );
            let share = |used: &u64| {
                let share = u128::from(millicores) * u128::from(*used) / u128::from(all);
                // Who has nothing cannot even start to answer.
                u32::try_from(share)
                    .map(|share| share.max(10))
                    .context("a share of a budget")
            };
            used.iter().map(share).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_divided_as_it_says() {
        assert_eq!(shares(1000, Split::Shared, 4, &[]).unwrap(), [1000]);
        assert_eq!(shares(1000, Split::Even, 4, &[]).unwrap(), [250; 4]);
        let measured = shares(1000, Split::Measured, 3, &[700_000, 299_000, 1_000]).unwrap();
        assert_eq!(measured, [700, 299, 10]);
        assert!(shares(1000, Split::Measured, 2, &[]).is_err());
        assert!(shares(1000, Split::Even, 0, &[]).is_err());
    }
}
