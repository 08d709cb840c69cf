//! From messages to what the peer traits speak, and back.

use conduit_domain::{AccountId, ArticleId};

use crate::error::CallError;
use crate::peers::{Deletion, DeletionCursor, Follow, User};
use crate::wire;

impl From<User> for wire::User {
    fn from(user: User) -> Self {
        Self {
            id: user.id.0,
            username: user.username,
            bio: user.bio,
            image: user.image,
        }
    }
}

impl From<wire::User> for User {
    fn from(user: wire::User) -> Self {
        Self {
            id: AccountId(user.id),
            username: user.username,
            bio: user.bio,
            image: user.image,
        }
    }
}

impl From<Follow> for wire::Follow {
    fn from(pair: Follow) -> Self {
        Self {
            follower: pair.follower.0,
            followee: pair.followee.0,
        }
    }
}

impl From<wire::Follow> for Follow {
    fn from(pair: wire::Follow) -> Self {
        Self {
            follower: AccountId(pair.follower),
            followee: AccountId(pair.followee),
        }
    }
}

impl From<DeletionCursor> for wire::DeletionCursor {
    fn from(cursor: DeletionCursor) -> Self {
        Self {
            transaction: cursor.transaction,
            article: cursor.article.0,
        }
    }
}

impl From<wire::DeletionCursor> for DeletionCursor {
    fn from(cursor: wire::DeletionCursor) -> Self {
        Self {
            transaction: cursor.transaction,
            article: ArticleId(cursor.article),
        }
    }
}

impl From<Deletion> for wire::Deletion {
    fn from(deletion: Deletion) -> Self {
        Self {
            article: deletion.article.0,
            cursor: Some(deletion.cursor.into()),
        }
    }
}

impl TryFrom<wire::Deletion> for Deletion {
    type Error = CallError;

    fn try_from(deletion: wire::Deletion) -> Result<Self, CallError> {
        let cursor = deletion
            .cursor
            .ok_or_else(|| CallError::nonsense("a deletion without its cursor"))?;
        Ok(Self {
            article: ArticleId(deletion.article),
            cursor: cursor.into(),
        })
    }
}
