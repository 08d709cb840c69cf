//! The feed (contract 5.7).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
