//! Profiles and follows (contract 5.4).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
