//! What was asked and what came, in order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::http::{Request, Response, Trouble};

/// One request and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Host and port it went to.
    pub address: String,
    /// The request.
    pub request: Request,
    /// The answer, or why there is none.
    pub outcome: Result<Response, Trouble>,
    /// How much of the answer is set by what was asked before.
    pub certainty: Certainty,
}

/// How much of an answer is set by the requests before it, which decides how deployments are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// All of it.
    #[default]
    Certain,
    /// Status, headers and shape; values may depend on who won a race.
    Raced,
    /// Nothing: even the status depends on a race.
    Open,
}

/// One step of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// One exchange after the other.
    One(Arc<Exchange>),
    /// Exchanges that were started together.
    Together(Vec<Arc<Exchange>>),
}

impl Step {
    /// The exchanges of the step.
    pub fn exchanges(&self) -> &[Arc<Exchange>] {
        match self {
            Self::One(exchange) => std::slice::from_ref(exchange),
            Self::Together(exchanges) => exchanges,
        }
    }
}

/// The steps of one check, in order.
#[derive(Debug, Default)]
pub struct Log(Mutex<Vec<Step>>);

impl Log {
    fn steps_mut(&self) -> MutexGuard<'_, Vec<Step>> {
        // A check that panics while it holds the lock leaves the steps whole: a push is the only change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a step.
    pub fn push(&self, step: Step) {
        self.steps_mut().push(step);
    }

    /// All steps so far.
    pub fn steps(&self) -> Vec<Step> {
        self.steps_mut().clone()
    }

    /// The last exchange so far.
    pub fn last(&self) -> Option<Arc<Exchange>> {
        self.steps_mut()
            .last()
            .and_then(|step| step.exchanges().last().cloned())
    }
}
