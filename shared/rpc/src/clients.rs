//! The peer traits over a transport.

use std::sync::Arc;

use async_trait::async_trait;
use conduit_domain::slug::is_slug;
use conduit_domain::{AccountId, ArticleId};
use futures_util::future::try_join_all;

use crate::client::{Caller, Wire};
use crate::error::CallError;
use crate::limits::{KEYS, PAGE, can_be_a_name};
use crate::methods::{DeletedSince, Find, FollowedBy, FollowedByEach, Follows, IdsBySlugs};
use crate::peers::{ArticlesApi, Deletion, DeletionCursor, FindUsers, Follow, ProfilesApi, User, UsersApi};
use crate::wire;

/// Another process as a peer: all three traits, of which its address serves one.
pub(crate) struct Remote<W: Wire>(pub(crate) Arc<Caller<W>>);

#[async_trait]
impl<W: Wire> UsersApi for Remote<W> {
    async fn find(&self, wanted: FindUsers) -> Result<Vec<User>, CallError> {
        let names = wanted
            .names
            .into_iter()
            .filter(can_be_a_name)
            .map(|name| Key::Name(name.as_str().to_owned()));
        let keys = wanted
            .ids
            .into_iter()
            .map(|id| Key::Id(id.0))
            .chain(names)
            .collect();
        let calls = split(keys).map(|keys| self.0.call::<Find>(keys.into_iter().collect()));
        let answers = try_join_all(calls).await?;
        Ok(answers
            .into_iter()
            .flat_map(|answer| answer.users)
            .map(Into::into)
            .collect())
    }
}

enum Key {
    Id(i64),
    Name(String),
}

impl FromIterator<Key> for wire::FindUsersRequest {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        let mut request = Self::default();
        for key in keys {
            match key {
                Key::Id(id) => request.ids.push(id),
                Key::Name(name) => request.names.push(name),
            }
        }
        request
    }
}

#[async_trait]
impl<W: Wire> ProfilesApi for Remote<W> {
    async fn follows(&self, pairs: Vec<Follow>) -> Result<Vec<Follow>, CallError> {
        let calls = split(pairs).map(|pairs| {
            let pairs = pairs.into_iter().map(Into::into).collect();
            self.0.call::<Follows>(wire::FollowsRequest { pairs })
        });
        let answers = try_join_all(calls).await?;
        Ok(answers
            .into_iter()
            .flat_map(|answer| answer.pairs)
            .map(Into::into)
            .collect())
    }

    async fn followed_by(&self, viewer: AccountId) -> Result<Vec<AccountId>, CallError> {
        let first = self.followed_page(viewer, None, PAGE).await?;
        followed_from(self, viewer, first, PAGE).await
    }

    async fn followed_page(
        &self,
        viewer: AccountId,
        after: Option<AccountId>,
        limit: u32,
    ) -> Result<Vec<AccountId>, CallError> {
        let request = wire::FollowedByRequest {
            viewer: viewer.0,
            after: after.map(|id| id.0),
            limit,
        };
        let answer = self.0.call::<FollowedBy>(request).await?;
        Ok(answer.followees.into_iter().map(AccountId).collect())
    }

    async fn followed_by_each(
        &self,
        viewers: Vec<AccountId>,
        limit: u32,
    ) -> Result<Vec<(AccountId, Vec<AccountId>)>, CallError> {
        let request = wire::FollowedByEachRequest {
            viewers: viewers.into_iter().map(|id| id.0).collect(),
            limit,
        };
        let answer = self.0.call::<FollowedByEach>(request).await?;
        let each = answer.each.into_iter();
        Ok(each
            .map(|first| {
                let followees = first.followees.into_iter().map(AccountId);
                (AccountId(first.viewer), followees.collect())
            })
            .collect())
    }
}

/// All that a viewer follows, from the first page on, which was asked for with this limit.
pub(crate) async fn followed_from(
    api: &dyn ProfilesApi,
    viewer: AccountId,
    first: Vec<AccountId>,
    limit: u32,
) -> Result<Vec<AccountId>, CallError> {
    let (mut all, mut page, mut limit) = (Vec::new(), first, limit);
    loop {
        let is_last = page.len() < limit as usize;
        // A page that does not go on from the last would be asked for for ever.
        if page.first() <= all.last() && !page.is_empty() || !page.is_sorted() {
            return Err(CallError::nonsense("a page of follows out of order"));
        }
        all.extend(page);
        if is_last {
            return Ok(all);
        }
        limit = PAGE;
        page = api.followed_page(viewer, all.last().copied(), limit).await?;
    }
}

#[async_trait]
impl<W: Wire> ArticlesApi for Remote<W> {
    async fn ids_by_slugs(&self, slugs: Vec<String>) -> Result<Vec<(String, ArticleId)>, CallError> {
        let slugs = slugs.into_iter().filter(|slug| is_slug(slug)).collect();
        let calls = split(slugs).map(|slugs| self.0.call::<IdsBySlugs>(wire::IdsBySlugsRequest { slugs }));
        let answers = try_join_all(calls).await?;
        let found = answers.into_iter().flat_map(|answer| answer.found);
        Ok(found
            .map(|found| (found.slug, ArticleId(found.article)))
            .collect())
    }

    async fn deleted_since(&self, cursor: DeletionCursor, limit: u32) -> Result<Vec<Deletion>, CallError> {
        let request = wire::DeletedSinceRequest {
            cursor: Some(cursor.into()),
            limit: limit.clamp(1, PAGE),
        };
        let answer = self.0.call::<DeletedSince>(request).await?;
        answer.deletions.into_iter().map(TryInto::try_into).collect()
    }
}

/// In calls of at most [`KEYS`]; no keys, no call.
fn split<K>(keys: Vec<K>) -> impl Iterator<Item = Vec<K>> {
    let mut rest = keys;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let later = rest.split_off(rest.len().min(KEYS));
        Some(std::mem::replace(&mut rest, later))
    })
}
