//! From a database's address to tables and a role to log in with.

mod url;

pub use self::url::{DatabaseUrl, InvalidDatabaseUrl};
