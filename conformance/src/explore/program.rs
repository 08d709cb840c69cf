//! Whole programs: generated at their full length, shrunk by leaving out ever smaller stretches of steps, then by
//! making the steps that are left simpler. The library's own vectors shrink one element at a time, which takes
//! hundreds of attempts for a program of hundreds of steps.

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::op::{self, Op};

/// All programs of so many steps.
#[derive(Debug)]
pub(super) struct Programs {
    pub(super) steps: usize,
}

impl Strategy for Programs {
    type Tree = ProgramTree;
    type Value = Vec<Op>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let one = op::op().boxed();
        let steps = (0..self.steps)
            .map(|_| one.new_tree(runner))
            .collect::<Result<Vec<_>, _>>()?;
        let kept = (0..steps.len()).collect();
        Ok(ProgramTree {
            kept,
            chunk: steps.len() / 2,
            skipped: 0,
            steps,
            last: Last::Nothing,
        })
    }
}

/// A program on its way to being short.
pub(super) struct ProgramTree {
    steps: Vec<Box<dyn ValueTree<Value = Op>>>,
    /// Places of the steps that are still in, ascending.
    kept: Vec<usize>,
    /// How many neighbouring steps are left out at once; 0 when that is done.
    chunk: usize,
    /// How many of the kept steps, from the end (or from the front, once only simplifying is left), have had their turn.
    skipped: usize,
    last: Last,
}

/// What the last simplification did, so that it can be undone.
enum Last {
    Nothing,
    LeftOut(Vec<usize>),
    Simplified(usize),
}

impl std::fmt::Debug for ProgramTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgramTree")
            .field("kept", &self.kept)
            .field("chunk", &self.chunk)
            .finish_non_exhaustive()
    }
}

impl ProgramTree {
    /// Leaves out the next stretch, from the end to the front: what follows a difference is the first to go.
    fn leave_out(&mut self) -> bool {
        while self.chunk > 0 {
            if self.skipped < self.kept.len() {
                let end = self.kept.len() - self.skipped;
                let gone: Vec<usize> = self.kept.drain(end.saturating_sub(self.chunk)..end).collect();
                self.last = Last::LeftOut(gone);
                return true;
            }
            self.chunk /= 2;
            self.skipped = 0;
        }
        false
    }

    fn make_simpler(&mut self) -> bool {
        while let Some(&place) = self.kept.get(self.skipped) {
            if self.steps.get_mut(place).is_some_and(ValueTree::simplify) {
                self.last = Last::Simplified(place);
                return true;
            }
            self.skipped += 1;
        }
        self.last = Last::Nothing;
        false
    }
}

impl ValueTree for ProgramTree {
    type Value = Vec<Op>;

    fn current(&self) -> Vec<Op> {
        self.kept
            .iter()
            .filter_map(|place| self.steps.get(*place))
            .map(ValueTree::current)
            .collect()
    }

    fn simplify(&mut self) -> bool {
        self.leave_out() || self.make_simpler()
    }

    /// Takes back what went too far and goes on with the next idea at once: the state in between is known to fail.
    fn complicate(&mut self) -> bool {
        match std::mem::replace(&mut self.last, Last::Nothing) {
            Last::Nothing => false,
            Last::LeftOut(gone) => {
                self.skipped += gone.len();
                self.kept.extend(gone);
                self.kept.sort_unstable();
                self.simplify()
            }
            Last::Simplified(place) => {
                if self.steps.get_mut(place).is_some_and(ValueTree::complicate) {
                    self.last = Last::Simplified(place);
                    return true;
                }
                self.skipped += 1;
                self.simplify()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::cell::Cell;

    use proptest::test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng};

    use super::*;

    fn runner() -> TestRunner {
        let config = super::super::config();
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
    }

    #[test]
    fn programs_have_their_full_length_and_repeat_by_seed() {
        let program = || Programs { steps: 300 }.new_tree(&mut runner()).unwrap().current();
        assert_eq!(program().len(), 300);
        assert_eq!(program(), program());
    }

    #[test]
    fn a_fault_of_two_steps_shrinks_to_two_steps() {
        let attempts = Cell::new(0);
        let outcome = runner().run(&Programs { steps: 300 }, |program| {
            attempts.set(attempts.get() + 1);
            let follow = program.iter().position(|op| matches!(op, Op::Follow { .. }));
            let feed = program.iter().rposition(|op| matches!(op, Op::Feed { .. }));
            match follow < feed && follow.is_some() {
                true => Err(TestCaseError::fail("followed, then read the feed")),
                false => Ok(()),
            }
        });
        let Err(TestError::Fail(_, program)) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(program.len(), 2, "{program:?}");
        assert!(attempts.get() < 120, "{} attempts", attempts.get());
    }
}
