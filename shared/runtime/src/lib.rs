//! What a process needs and no rule of the application cares about.
//!
//! Start reading at [`database`]: it turns "some PostgreSQL" into roles, schemas, tables and the URL to log in with. Nothing here knows a
//! route, a table's columns or a peer; the pool of connections lives beside the statements, in the store.

#[cfg(feature = "embedded")]
pub mod embedded;

pub mod database;
pub mod secrets;
