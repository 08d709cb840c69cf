//! Whether a run can be trusted.

use super::data::{APP, Data};
use super::number;
use super::sections::told;
use crate::stats::AGREEMENT;

/// Share of the measurements that may begin at a restless moment: what that does to them shows in the ratios.
const RESTLESS: f64 = 0.1;

/// Pairs of layouts that are named; of more, the number is told.
const NAMED: usize = 5;

/// Why the run counts as noisy; empty if it does not.
pub(crate) fn complaints(data: &Data<'_>) -> Vec<String> {
    let failed = data.run.gates.iter().filter(|gate| !gate.passed);
    let mut complaints: Vec<String> = failed
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
    let (looks, failed) = gates.fold((0_u64, 0_u64), |(looks, failed), gate| {
        (looks + 1, failed + u64::from(!gate.passed))
    });
    let share = number::float(failed) / number::float(looks.max(1));
    (share > RESTLESS).then(|| format!("the machine was not quiet before {failed} of {looks} measurements"))
}

/// Pairs of layouts whose ratio is another one in every repetition, the worst first.
fn disagreements(data: &Data<'_>) -> Vec<String> {
    let steady = data.groups().filter(|group| !group.key.mode.is_search());
    let compared = steady.filter_map(|group| Some((group, data.beside_baseline(group, APP)?)));
    let mut noisy: Vec<_> = compared.filter(|(_, comparison)| comparison.is_noisy()).collect();
    noisy.sort_by(|(_, a), (_, b)| b.disagreement.total_cmp(&a.disagreement));
    let named = noisy.iter().take(NAMED).map(|(group, comparison)| {
        format!(
            "{} by {} ({}): the ratios of the repetitions lie {} apart, where {} would do",
            group.key.layout,
            data.baseline(),
            told(&group.key),
            number::percent(comparison.disagreement),
            number::percent(AGREEMENT)
        )
    });
    let further = noisy.len().saturating_sub(NAMED);
    let further = (further > 0).then(|| format!("so it is for {further} further pairs"));
    named.chain(further).collect()
}
