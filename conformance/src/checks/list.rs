//! Lists, filters, paging (contract 5.6).

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    vec![]
}
