//! The current user (contract 5.3).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
