//! Everything that can go wrong, free of transports: no status, no sentence (those are in `conduit-web`, one place).

use std::error::Error as StdError;

/// Shorthand for results of this project.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause that is logged and never shown.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// What a request can fail with. `conduit-web` gives each variant its status and body (contract 1.7).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A required route without a token.
    #[error("the token is missing")]
    TokenMissing,
    /// Not a JWT, a wrong signature or algorithm, a claim missing or of the wrong type.
    #[error("the token is invalid")]
    TokenInvalid,
    /// A good signature, but `exp` has passed.
    #[error("the token has expired")]
    TokenExpired,
    /// The token is good and its account does not exist any more (contract 1.2).
    #[error("the token's account does not exist")]
    CallerGone,
    /// Unknown e-mail or wrong password; nobody learns which.
    #[error("the credentials are invalid")]
    CredentialsInvalid,
    /// Somebody else's article or comment.
    #[error("{0:?} of somebody else")]
    Forbidden(Resource),
    /// Nothing of that name.
    #[error("{0:?} not found")]
    NotFound(Resource),
    /// No such path (contract 4.2).
    #[error("unknown route")]
    RouteNotFound,
    /// A known path, another method; with the methods it has, as the `Allow` header lists them (contract 4.3).
    #[error("method not allowed")]
    MethodNotAllowed(&'static str),
    /// The name or the address belongs to another account; both may.
    #[error("taken: {0:?}")]
    Taken(Taken),
    /// Fields that break a rule, in the order of contract 1.7, each with the first rule it breaks.
    #[error("invalid: {0:?}")]
    Invalid(Vec<Fault>),
    /// The body is not JSON, or the request names something that no proxy would pass (contract 1.1, 1.3).
    #[error("the request is malformed")]
    RequestMalformed,
    /// The body is over the limit (contract 1.3).
    #[error("the request is too large")]
    RequestTooLarge,
    /// A store or another service could not be reached in time. Whatever was being written has happened whole or not at all.
    #[error("a part that this needs is unavailable")]
    Unavailable(#[source] Cause),
    /// The process sheds load: it has as much of this kind of work as it can do in time (contract 1.7, with `Retry-After`).
    #[error("overloaded: {0}")]
    Overloaded(&'static str),
    /// A bug.
    #[error("internal error")]
    Internal(#[source] Cause),
}

impl Error {
    /// One field that breaks one rule.
    pub fn invalid(field: Field, rule: Rule) -> Self {
        Self::Invalid(vec![Fault { field, rule }])
    }
}

/// What a path can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// An article, by slug.
    Article,
    /// A comment, by id, under its article.
    Comment,
    /// An account as others see it, by username.
    Profile,
}

/// Which unique fields are in use by another account; at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The username is.
    pub username: bool,
    /// The e-mail is.
    pub email: bool,
}

impl Taken {
    /// Whether anything is.
    pub fn any(self) -> bool {
        self.username || self.email
    }
}

/// A field and the first rule it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The field.
    pub field: Field,
    /// The rule.
    pub rule: Rule,
}

/// The fields that can be at fault. Their order here is the order of keys in an answer (contract 1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The wrapper `user`.
    User,
    /// The wrapper `article`.
    Article,
    /// The wrapper `comment`.
    Comment,
    /// The account named in the path of a follow.
    Profile,
    /// `username`
    Username,
    /// `email`
    Email,
    /// `password`
    Password,
    /// `bio`
    Bio,
    /// `image`
    Image,
    /// `title`
    Title,
    /// `description`
    Description,
    /// `body` of an article or comment
    Body,
    /// `tagList`
    TagList,
    /// Query parameter `limit`
    Limit,
    /// Query parameter `offset`
    Offset,
}

/// The rules of contract 1.9, 3.3, 3.6 and 3.9 that a field can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Required and absent, `null`, or nothing left after trimming.
    Blank,
    /// Of the wrong type or form, or with U+0000.
    Invalid,
    /// Fewer characters (Unicode code points) than this.
    TooShort(usize),
    /// More characters (Unicode code points) than this.
    TooLong(usize),
    /// More different tags than this.
    TooManyTags(usize),
    /// Nobody follows oneself.
    OwnProfile,
    /// Not a decimal integer.
    NotANumber,
    /// Below this.
    Below(i64),
}
