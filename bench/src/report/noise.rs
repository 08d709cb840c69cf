//! Whether a run can be trusted.

use super::data::{APP, Data};
use super::number;
use super::sections::told;
use crate::stats::AGREEMENT;

/// Why the run counts as noisy; empty if it does not.
pub(crate) fn complaints(data: &Data<'_>) -> Vec<String> {
    let mut complaints: Vec<String> = data
        .run
        .gates
        .iter()
        .filter(|gate| !gate.passed)
        .map(|gate| format!("the machine was not quiet: {}", gate.told))
        .collect();
    complaints.extend(restless(data));
    complaints.extend(disagreements(data));
    complaints
}

fn restless(data: &Data<'_>) -> Option<String> {
    let gates = data
        .cells
        .iter()
        .filter_map(|cell| cell.measured()?.gate.as_ref());
    let failed = gates.filter(|gate| !gate.passed).count();
    (failed > 0).then(|| {
        format!(
            "the machine was not quiet before {failed} of {} measurements",
            data.cells.len()
        )
    })
}

/// Pairs of layouts whose ratio is another one in every repetition.
fn disagreements<'d>(data: &'d Data<'_>) -> impl Iterator<Item = String> + 'd {
    let steady = data.groups().filter(|group| !group.key.mode.is_search());
    steady.filter_map(|group| {
        let comparison = data.beside_baseline(group, APP)?;
        comparison.is_noisy().then(|| {
            format!(
                "{} by {} ({}): the ratios of the repetitions lie {} apart, and {} would do",
                group.key.layout,
                data.baseline(),
                told(&group.key),
                number::percent(comparison.disagreement),
                number::percent(AGREEMENT)
            )
        })
    })
}
