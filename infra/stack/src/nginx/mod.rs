//! nginx in front of a deployment: its configuration from the templates in `infra/nginx` and the table in `infra/routes.toml`.
//!
//! [`render`] serves this machine's stacks and deployments over several machines alike: a [`Site`] is the variables.

mod program;
mod render;
mod routes;
mod site;

pub use program::{arguments, check, installed, worker_account};
pub use render::render;
pub use routes::{Route, RouteTable};
pub use site::{Account, Copy, LoginLimit, Site, Tls, Topology};
