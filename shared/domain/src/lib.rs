//! What Conduit is about: values, the rules of the contract for them, and the errors that can come of it.
//!
//! Nothing here does I/O or knows actix, sqlx or tonic; values do not derive serialisation, so nothing reaches a client but
//! through the views of `conduit-web`. Start reading at [`error`], then [`input`] (how a request body becomes a value) and
//! [`text`] (the rules of contract 1.9).

pub mod account;
pub mod article;
pub mod clock;
pub mod comment;
pub mod error;
pub mod ids;
pub mod input;
pub mod page;
pub mod slug;
pub mod tags;
pub mod text;

pub use account::{Account, AccountChanges, LogIn, NameKey, Profile, Registration};
pub use article::{Article, ArticleChanges, ArticleFilter, ArticlePage, ArticleSummary, NewArticle};
pub use clock::{Clock, Timestamp};
pub use comment::{Comment, CommentTarget, NewComment, comment_id};
pub use error::{Error, Fault, Field, Result};
pub use ids::{AccountId, ArticleId, CommentId, Viewer};
pub use input::Body;
pub use page::Page;
pub use slug::SlugBase;
