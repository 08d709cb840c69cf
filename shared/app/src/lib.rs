//! The use cases of Conduit, and the ports they read through.
//!
//! The order of checks (contract 1.8) is written here and nowhere else; so is every rule about who may do what. Nothing here
//! knows which build it is in: what differs between them is reading across owners, and that is behind the traits of [`reads`].
//! Nothing here knows HTTP either. Start reading at [`articles`], the area with most of everything.

pub mod articles;
pub mod comments;
pub mod passwords;
pub mod profiles;
pub mod reads;
pub mod tokens;
pub mod users;

pub use articles::{Articles, ListQuery};
pub use comments::Comments;
pub use passwords::{PasswordSettings, PasswordStatus, Passwords};
pub use profiles::Profiles;
pub use reads::{ArticleReads, CommentReads, ProfileReads, Readiness};
pub use tokens::Tokens;
pub use users::{Session, Users};
