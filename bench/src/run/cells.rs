//! The cells of a plan, in the order in which they are measured.

use crate::load::Profile;
use crate::plan::{Group, Plan};
use crate::results::{Key, Place, Variant};

/// Everything that is up at the same time.
pub(super) struct Round<'a> {
    pub(super) articles: u64,
    pub(super) group: &'a Group,
    /// Its first cell's number in the whole run, from 1.
    pub(super) first: u32,
    pub(super) cells: Vec<PlannedCell>,
}

/// A cell that is to be measured.
pub(super) struct PlannedCell {
    pub(super) key: Key,
    pub(super) profile: Profile,
}

/// How many cells a plan has, repetitions counted.
#[must_use]
pub fn count(plan: &Plan) -> usize {
    rounds(plan).iter().map(|round| round.cells.len()).sum()
}

/// Layouts take turns within everything else, so that neighbours differ in the layout alone.
pub(super) fn rounds(plan: &Plan) -> Vec<Round<'_>> {
    let mut rounds = Vec::new();
    let mut first = 1;
    for group in &plan.groups {
        let sizes = match group.articles.as_slice() {
            [] => plan.articles.as_slice(),
            own => own,
        };
        for &articles in sizes {
            let cells: Vec<PlannedCell> = (1..=plan.repetitions)
                .flat_map(|repetition| of_repetition(group, articles, repetition))
                .collect();
            let count = u32::try_from(cells.len()).unwrap_or(u32::MAX);
            rounds.push(Round {
                articles,
                group,
                first,
                cells,
            });
            first = first.saturating_add(count);
        }
    }
    rounds
}

fn of_repetition(group: &Group, articles: u64, repetition: u32) -> Vec<PlannedCell> {
    let mut cells = Vec::new();
    for profile in &group.profiles {
        for mode in &group.modes {
            for (layout, variant) in deployments(group) {
                cells.push(PlannedCell {
                    key: Key {
                        layout,
                        profile: profile.name().to_owned(),
                        mode: *mode,
                        articles,
                        variant,
                        repetition,
                    },
                    profile: *profile,
                });
            }
        }
    }
    cells
}

/// What is deployed for a group, as the keys have it.
pub(super) fn deployments(group: &Group) -> Vec<(String, Variant)> {
    let of = |place| Variant {
        batching: group.batching,
        sockets: group.sockets,
        budget: group.budget,
        place,
        proxy: group.proxy,
    };
    let beside = match group.boxes {
        true => Place::Boxes,
        false => Place::Together,
    };
    let here = group
        .layouts
        .iter()
        .map(|layout| (layout.to_string(), of(beside)));
    let there = group
        .remote
        .iter()
        .map(|remote| (remote.name.clone(), of(Place::Remote)));
    here.chain(there).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::plan::{READY, parse};

    #[test]
    fn layouts_take_turns() {
        let plan = parse(READY[0].1).unwrap();
        let rounds = rounds(&plan);
        let layouts: Vec<&str> = rounds[0]
            .cells
            .iter()
            .map(|cell| cell.key.layout.as_str())
            .collect();
        assert_eq!(
            layouts[..6],
            [
                "monolith",
                "split-http",
                "split-grpc",
                "monolith",
                "split-http",
                "split-grpc"
            ]
        );
        let conditions: Vec<Key> = rounds[0].cells.iter().map(|cell| cell.key.conditions()).collect();
        assert_eq!(conditions[0], conditions[2]);
        assert_ne!(conditions[2], conditions[3]);
    }

    #[test]
    fn no_two_cells_of_a_ready_plan_share_a_file() {
        for (name, text) in READY {
            let plan = parse(text).unwrap();
            let rounds = rounds(&plan);
            let names: Vec<String> = rounds
                .iter()
                .flat_map(|round| &round.cells)
                .map(|cell| cell.key.file_name())
                .collect();
            let different: BTreeSet<&String> = names.iter().collect();
            assert_eq!(names.len(), different.len(), "{name}");
            assert_eq!(names.len(), count(&plan));
        }
    }
}
