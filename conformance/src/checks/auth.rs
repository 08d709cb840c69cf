//! Registration, login, tokens (contract 5.2).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
