//! The one table of what can be called: names, messages, and which peer answers. Both transports and both ends read it.

use conduit_domain::{AccountId, NameKey};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::CallError;
use crate::limits::{FIRST_FOLLOWED, KEYS, PAGE};
use crate::peers::FindUsers;
use crate::serve::Served;
use crate::wire;

/// One method of one peer.
pub(crate) trait Method: Send + Sync + 'static {
    /// Who answers it.
    const PEER: &'static str;
    /// Its name.
    const NAME: &'static str;
    /// Its path over HTTP.
    const HTTP: &'static str;
    /// Its path over gRPC.
    const GRPC: &'static str;
    type Request: Message;
    type Response: Message;

    /// What the process's own peer says.
    fn answer(
        served: &Served,
        request: Self::Request,
    ) -> impl Future<Output = Result<Self::Response, CallError>> + Send;
}

/// A message in both of its forms.
pub(crate) trait Message:
    prost::Message + Serialize + DeserializeOwned + Clone + Default + Send + Sync + 'static
{
}

impl<T> Message for T where
    T: prost::Message + Serialize + DeserializeOwned + Clone + Default + Send + Sync + 'static
{
}

/// `UsersApi::find`
pub(crate) struct Find;

impl Method for Find {
    const PEER: &'static str = "users";
    const NAME: &'static str = "find";
    const HTTP: &'static str = "/internal/v1/users/find";
    const GRPC: &'static str = "/conduit.internal.v1.Users/Find";
    type Request = wire::FindUsersRequest;
    type Response = wire::FindUsersResponse;

    async fn answer(served: &Served, request: Self::Request) -> Result<Self::Response, CallError> {
        at_most_keys(request.ids.len() + request.names.len())?;
        let wanted = FindUsers {
            ids: request.ids.into_iter().map(AccountId).collect(),
            names: request
                .names
                .iter()
                .filter_map(|name| NameKey::of(name))
                .collect(),
        };
        let users = offered(served.users.as_ref())?.find(wanted).await?;
        Ok(wire::FindUsersResponse {
            users: users.into_iter().map(Into::into).collect(),
        })
    }
}

/// `ProfilesApi::follows`
pub(crate) struct Follows;

impl Method for Follows {
    const PEER: &'static str = "profiles";
    const NAME: &'static str = "follows";
    const HTTP: &'static str = "/internal/v1/profiles/follows";
    const GRPC: &'static str = "/conduit.internal.v1.Profiles/Follows";
    type Request = wire::FollowsRequest;
    type Response = wire::FollowsResponse;

    async fn answer(served: &Served, request: Self::Request) -> Result<Self::Response, CallError> {
        at_most_keys(request.pairs.len())?;
        let pairs = request.pairs.into_iter().map(Into::into).collect();
        let holding = offered(served.profiles.as_ref())?.follows(pairs).await?;
        Ok(wire::FollowsResponse {
            pairs: holding.into_iter().map(Into::into).collect(),
        })
    }
}

/// One page of `ProfilesApi::followed_by`
pub(crate) struct FollowedBy;

impl Method for FollowedBy {
    const PEER: &'static str = "profiles";
    const NAME: &'static str = "followed_by";
    const HTTP: &'static str = "/internal/v1/profiles/followed-by";
    const GRPC: &'static str = "/conduit.internal.v1.Profiles/FollowedBy";
    type Request = wire::FollowedByRequest;
    type Response = wire::FollowedByResponse;

    async fn answer(served: &Served, request: Self::Request) -> Result<Self::Response, CallError> {
        let limit = page(request.limit)?;
        let (viewer, after) = (AccountId(request.viewer), request.after.map(AccountId));
        let page = offered(served.profiles.as_ref())?
            .followed_page(viewer, after, limit)
            .await?;
        Ok(wire::FollowedByResponse {
            followees: page.into_iter().map(|id| id.0).collect(),
        })
    }
}

/// `ProfilesApi::followed_by_each`
pub(crate) struct FollowedByEach;

impl Method for FollowedByEach {
    const PEER: &'static str = "profiles";
    const NAME: &'static str = "followed_by_each";
    const HTTP: &'static str = "/internal/v1/profiles/followed-by-each";
    const GRPC: &'static str = "/conduit.internal.v1.Profiles/FollowedByEach";
    type Request = wire::FollowedByEachRequest;
    type Response = wire::FollowedByEachResponse;

    async fn answer(served: &Served, request: Self::Request) -> Result<Self::Response, CallError> {
        at_most_keys(request.viewers.len())?;
        let limit = page(request.limit)?;
        let most = request.viewers.len().saturating_mul(limit as usize);
        if most > FIRST_FOLLOWED as usize {
            return Err(CallError::nonsense(format!(
                "up to {most} followed accounts in one call, over the limit of {FIRST_FOLLOWED}"
            )));
        }
        let viewers = request.viewers.into_iter().map(AccountId).collect();
        let each = offered(served.profiles.as_ref())?
            .followed_by_each(viewers, limit)
            .await?;
        let each = each.into_iter().map(|(viewer, followees)| wire::FirstFollowed {
            viewer: viewer.0,
            followees: followees.into_iter().map(|id| id.0).collect(),
        });
        Ok(wire::FollowedByEachResponse { each: each.collect() })
    }
}

/// `ArticlesApi::ids_by_slugs`
pub(crate) struct IdsBySlugs;

impl Method for IdsBySlugs {
    const PEER: &'static str = "articles";
    const NAME: &'static str = "ids_by_slugs";
    const HTTP: &'static str = "/internal/v1/articles/ids-by-slugs";
    const GRPC: &'static str = "/conduit.internal.v1.Articles/IdsBySlugs";
    type Request = wire::IdsBySlugsRequest;
    type Response = wire::IdsBySlugsResponse;

    async fn answer(served: &Served, request: Self::Request) -> Result<Self::Response, CallError> {
        at_most_keys(request.slugs.len())?;
        let found = offered(served.articles.as_ref())?
            .ids_by_slugs(request.slugs)
            .await?;
        let found = found
            .into_iter()
            .map(|(slug, id)| wire::SlugId { slug, article: id.0 });
        Ok(wire::IdsBySlugsResponse {
            found: found.collect(),
        })
    }
}

/// `ArticlesApi::deleted_since`
pub(crate) struct DeletedSince;

impl Method for DeletedSince {
    const PEER: &'static str = "articles";
    const NAME: &'static str = "deleted_since";
    const HTTP: &'static str = "/internal/v1/articles/deleted-since";
    const GRPC: &'static str = "/conduit.internal.v1.Articles/DeletedSince";
    type Request = wire::DeletedSinceRequest;
    type Response = wire::DeletedSinceResponse;

    async fn answer(served: &Served, request: Self::Request) -> Result<Self::Response, CallError> {
        let limit = page(request.limit)?;
        let cursor = request.cursor.ok_or_else(|| CallError::nonsense("no cursor"))?;
        let deletions = offered(served.articles.as_ref())?
            .deleted_since(cursor.into(), limit)
            .await?;
        Ok(wire::DeletedSinceResponse {
            deletions: deletions.into_iter().map(Into::into).collect(),
        })
    }
}

fn offered<A: ?Sized>(api: Option<&std::sync::Arc<A>>) -> Result<&A, CallError> {
    api.map(AsRef::as_ref)
        .ok_or_else(|| CallError::nonsense("not offered here"))
}

fn at_most_keys(keys: usize) -> Result<(), CallError> {
    if keys > KEYS {
        return Err(CallError::nonsense(format!(
            "{keys} keys in one call, over the limit of {KEYS}"
        )));
    }
    Ok(())
}

fn page(limit: u32) -> Result<u32, CallError> {
    if limit == 0 || limit > PAGE {
        return Err(CallError::nonsense(format!("a page of {limit}, not 1 to {PAGE}")));
    }
    Ok(limit)
}
