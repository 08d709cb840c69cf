//! SQL on the tables of one owner each; used by the monolith and by the services, and nothing here joins across owners.
//!
//! Start reading at [`db`] (the pool, and what happens to a connection when a statement fails) and [`error`] (what a driver's
//! error means to the domain). The four stores say what they do in the words of `architecture.md`, section 5.

pub mod articles;
pub mod comments;
pub mod db;
pub mod error;
pub mod profiles;
pub mod time;
pub mod users;

pub use articles::{ArticleRecord, ArticleStore};
pub use comments::{CommentRecord, CommentRow, CommentStore, DeletionsRead};
pub use profiles::ProfileStore;
pub use users::{UserRecord, UserStore};
