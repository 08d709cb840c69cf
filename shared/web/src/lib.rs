//! The public API of Conduit over actix-web: routes, extraction, views, errors, health, metrics, OpenAPI.
//!
//! The only place that knows a status code, a header or a JSON member. It must not contain a rule about who may do what or in
//! which order that is judged (that is `conduit-app`), nor a statement. It does not know which build it is in: a process hands
//! over the areas it has in an [`Api`], and the others do not exist there.
//!
//! Start reading at `routes`, the one table that drives the server, the `Allow` header and OpenAPI; then `gate`, where a
//! request passes steps 0 to 5 of contract 1.8 in order; then any of the four areas, for instance `articles`. `error` is the
//! only file with statuses and sentences of failures.

mod answer;
mod api;
mod articles;
mod body;
mod call;
mod comments;
mod docs;
mod error;
mod gate;
mod health;
mod log;
mod metrics;
mod openapi;
mod profiles;
mod query;
mod route;
mod routes;
mod token;
mod trace;
mod users;
mod view;

pub use api::{Api, Operations, configure, operations};
pub use metrics::{Metrics, PoolSize, PoolWaits};
pub use openapi::document;
pub use routes::{RouteInfo, route_infos};

#[cfg(test)]
mod testing;
