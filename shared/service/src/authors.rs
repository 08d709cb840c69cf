//! Who wrote something, as the viewer sees them: what every list of articles or comments asks its peers for.

use std::collections::{BTreeSet, HashMap, HashSet};

use conduit_domain::{AccountId, Error, Profile, Result, Viewer};
use conduit_rpc::{CallError, FindUsers, Follow, ProfilesApi, User, UsersApi};
use futures_util::future::try_join;

/// The accounts with these identifiers as the viewer sees them; an account that does not exist is absent. Users and profiles are
/// asked at the same time, profiles only where a flag could be true. Nobody, nothing to ask.
///
/// # Errors
/// [`Error::CallerGone`] for a [`Viewer::Acting`] whose account does not exist, which is asked for along with the others;
/// [`Error::Unavailable`].
pub async fn authors(
    users: &dyn UsersApi,
    profiles: &dyn ProfilesApi,
    viewer: Viewer,
    ids: BTreeSet<AccountId>,
) -> Result<HashMap<AccountId, Profile>> {
    authors_besides(Vec::new(), users, profiles, viewer, ids).await
}

/// As [`authors`], where some accounts have been found already: they are not asked for again.
///
/// # Errors
/// As [`authors`].
pub async fn authors_besides(
    known: Vec<User>,
    users: &dyn UsersApi,
    profiles: &dyn ProfilesApi,
    viewer: Viewer,
    ids: BTreeSet<AccountId>,
) -> Result<HashMap<AccountId, Profile>> {
    let followed = followed(profiles, viewer, &ids);
    let mut wanted = ids.clone();
    if let Viewer::Acting(caller) = viewer {
        wanted.insert(caller);
    }
    wanted.retain(|id| known.iter().all(|user| user.id != *id));
    let (found, followed) = try_join(find(users, wanted), followed).await?;
    let mut found: HashMap<_, _> = found
        .into_iter()
        .chain(known)
        .map(|user| (user.id, profile(user, false)))
        .collect();
    if let Viewer::Acting(caller) = viewer
        && !found.contains_key(&caller)
    {
        return Err(Error::CallerGone);
    }
    found.retain(|id, _| ids.contains(id));
    for profile in found.values_mut() {
        profile.following = followed.contains(&profile.id);
    }
    Ok(found)
}

/// An account as others see it.
pub fn profile(user: User, following: bool) -> Profile {
    Profile {
        id: user.id,
        username: user.username,
        bio: user.bio,
        image: user.image,
        following,
    }
}

async fn find(users: &dyn UsersApi, ids: BTreeSet<AccountId>) -> Result<Vec<User>, CallError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = FindUsers {
        ids: ids.into_iter().collect(),
        names: Vec::new(),
    };
    users.find(wanted).await
}

/// Nobody follows oneself, and who is nobody follows nobody (contract 3.9).
async fn followed(
    profiles: &dyn ProfilesApi,
    viewer: Viewer,
    ids: &BTreeSet<AccountId>,
) -> Result<HashSet<AccountId>, CallError> {
    let Some(follower) = viewer.id() else {
        return Ok(HashSet::new());
    };
    let others = ids.iter().filter(|id| **id != follower);
    let pairs: Vec<Follow> = others.map(|&followee| Follow { follower, followee }).collect();
    if pairs.is_empty() {
        return Ok(HashSet::new());
    }
    let held = profiles.follows(pairs).await?;
    Ok(held
        .into_iter()
        .filter(|pair| pair.follower == follower)
        .map(|pair| pair.followee)
        .collect())
}
