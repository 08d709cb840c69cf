//! Comments (contract 5.9).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
