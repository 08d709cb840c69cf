//! Tags (contract 5.10).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
