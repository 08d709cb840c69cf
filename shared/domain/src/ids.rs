//! Identifiers. A bare number in a signature says nothing, so each kind has its own type.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// An account's permanent identifier, the `sub` of its tokens. Positive; never shown to clients otherwise.
    AccountId
}
id! {
    /// An article's identifier. Positive, growing with creation, never used again; never shown to clients.
    ArticleId
}
id! {
    /// A comment's identifier. Positive, growing with creation over all articles, never used again (contract 3.10).
    CommentId
}

/// Who looks at something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// No token.
    Anonymous,
    /// A good token. The account may be gone: such a viewer follows nobody and has no favorites (contract 1.2).
    SignedIn(AccountId),
    /// A good token on a route that reads accounts anyway and wants the account to exist: a read port answers
    /// [`Error::CallerGone`](crate::Error::CallerGone) when what was asked for exists and the account does not (contract
    /// 1.8, step 9).
    Acting(AccountId),
}

impl Viewer {
    /// The account, if there is a token.
    pub fn id(self) -> Option<AccountId> {
        match self {
            Self::Anonymous => None,
            Self::SignedIn(id) | Self::Acting(id) => Some(id),
        }
    }
}

impl From<Option<AccountId>> for Viewer {
    fn from(id: Option<AccountId>) -> Self {
        id.map_or(Self::Anonymous, Self::SignedIn)
    }
}
