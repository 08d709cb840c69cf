//! Favourites (contract 5.8).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
