//! Across the areas of the API (contract 5.11).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
