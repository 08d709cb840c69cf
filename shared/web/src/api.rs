//! Composition: what a process hands over to get its listeners.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::{ServiceRequest, fn_service};
use actix_web::web::ServiceConfig;
use conduit_app::{Articles, Comments, Profiles, Readiness, Tokens, Users};
use conduit_domain::Clock;

use crate::gate::{Gate, Verifier};
use crate::log::Severity;
use crate::metrics::Metrics;
use crate::route::Table;
use crate::routes::{OPERATIONS_TABLE, PUBLIC_TABLE};

/// The public API of one worker. Made inside the worker, because its stores belong to the worker's runtime. An area that is
/// absent has no routes here: the monolith has all four, a service one.
pub struct Api {
    /// Checks tokens.
    pub tokens: Tokens,
    /// Tells whether they have expired.
    pub clock: Arc<dyn Clock>,
    /// Registration, log-in and one's own account.
    pub users: Option<Users>,
    /// Profiles and follows.
    pub profiles: Option<Profiles>,
    /// Articles, lists, favorites and tags.
    pub articles: Option<Articles>,
    /// Comments.
    pub comments: Option<Comments>,
    /// What the public `/readyz` says.
    pub readiness: Arc<dyn Readiness>,
    /// How long a request may take once its body has arrived; then 503 (contract 4.5 wants that within 5 seconds).
    pub deadline: Duration,
    /// Counts requests; one for the whole process.
    pub metrics: Metrics,
}

/// The operations listener (contract 4.1): `/healthz`, `/readyz` and `/metrics`.
pub struct Operations {
    /// What its `/readyz` says: the process's own store alone, so that one dead service does not take the others out.
    pub readiness: Arc<dyn Readiness>,
    /// How long a probe may take; then 503.
    pub deadline: Duration,
    /// What `/metrics` shows; the same that the public listener counts with.
    pub metrics: Metrics,
}

/// What every process has, whatever its areas.
pub(crate) struct System {
    pub(crate) readiness: Arc<dyn Readiness>,
    pub(crate) deadline: Duration,
    pub(crate) metrics: Metrics,
}

/// Makes an application answer the public API, all of it: every path of the listener goes through here.
pub fn configure(config: &mut ServiceConfig, api: Api) {
    let Api {
        tokens,
        clock,
        users,
        profiles,
        articles,
        comments,
        readiness,
        deadline,
        metrics,
    } = api;
    let gate = Gate {
        users,
        profiles,
        articles,
        comments,
        verifier: Some(Verifier { tokens, clock }),
        severity: Severity::Info,
        ..bare(
            &PUBLIC_TABLE,
            System {
                readiness,
                deadline,
                metrics,
            },
        )
    };
    serve(config, gate);
}

/// Makes an application answer the operations listener's routes and nothing else.
pub fn operations(config: &mut ServiceConfig, operations: Operations) {
    let Operations {
        readiness,
        deadline,
        metrics,
    } = operations;
    serve(
        config,
        bare(
            &OPERATIONS_TABLE,
            System {
                readiness,
                deadline,
                metrics,
            },
        ),
    );
}

pub(crate) fn bare(table: &'static Table, system: System) -> Gate {
    let deadline = system.deadline;
    Gate {
        table,
        users: None,
        profiles: None,
        articles: None,
        comments: None,
        system,
        verifier: None,
        deadline,
        severity: Severity::Debug,
    }
}

pub(crate) fn serve(config: &mut ServiceConfig, gate: Gate) {
    let gate = Rc::new(gate);
    config.default_service(fn_service(move |request: ServiceRequest| {
        let gate = Rc::clone(&gate);
        async move { Ok(gate.serve(request).await) }
    }));
}
