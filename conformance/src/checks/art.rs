//! Articles (contract 5.5).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
