//! What is asked for.

use std::fmt;
use std::str::FromStr;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The first page of all articles, without a token.
    List,
    /// The same as somebody who is signed in.
    ListToken,
    /// The first page of the feed.
    Feed,
    /// One article, half of the time with a token.
    Article,
    /// The comments of an article, half of the time with a token.
    Comments,
    /// All tags.
    Tags,
    /// One's own account.
    User,
    /// Somebody's profile, with a token.
    Profile,
    /// A log-in. It costs as much as some hundred lists and is in no mix.
    Login,
    /// Favorite an article and take it back.
    Favorite,
    /// Reads in the shares of the performance page: lists 30 (half with a token), feeds 10, articles 25, comments 15, tags 10,
    /// own accounts 5, profiles 5.
    Read,
    /// Readers' visits: the feed, an article of it, its comments, its author, and sometimes a favorite, a follow or a comment.
    Browse,
    /// Favorites 40, follows 20, comments 30, articles 10, each taken back.
    Write,
    /// Nine of ten requests from [`Profile::Read`], one from [`Profile::Write`].
    Mixed,
}

/// One thing that a session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    List,
    ListToken,
    Feed,
    Article,
    Comments,
    Tags,
    User,
    Profile,
    Login,
    Favorite,
    Follow,
    Comment,
    Publish,
    Visit,
}

/// What [`Profile::Read`] is made of, in hundredths.
pub const READ: [(u32, Profile); 8] = [
    (15, Profile::List),
    (15, Profile::ListToken),
    (10, Profile::Feed),
    (25, Profile::Article),
    (15, Profile::Comments),
    (10, Profile::Tags),
    (5, Profile::User),
    (5, Profile::Profile),
];

const WRITE: &[(u32, Script)] = &[
    (40, Script::Favorite),
    (20, Script::Follow),
    (30, Script::Comment),
    (10, Script::Publish),
];

/// One of so many scripts of a mixed session writes: a write takes two requests, or three.
const WRITING: u32 = 20;

impl Profile {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::List,
        Self::ListToken,
        Self::Feed,
        Self::Article,
        Self::Comments,
        Self::Tags,
        Self::User,
        Self::Profile,
        Self::Login,
        Self::Favorite,
        Self::Read,
        Self::Browse,
        Self::Write,
        Self::Mixed,
    ];

    /// As plans and results have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::ListToken => "list-token",
            Self::Feed => "feed",
            Self::Article => "article",
            Self::Comments => "comments",
            Self::Tags => "tags",
            Self::User => "user",
            Self::Profile => "profile",
            Self::Login => "login",
            Self::Favorite => "favorite",
            Self::Read => "read",
            Self::Browse => "browse",
            Self::Write => "write",
            Self::Mixed => "mixed",
        }
    }

    /// Whether it leaves something behind in the database, if only what was written and taken back.
    #[must_use]
    pub fn writes(self) -> bool {
        match self {
            Self::Favorite | Self::Browse | Self::Write | Self::Mixed => true,
            Self::List
            | Self::ListToken
            | Self::Feed
            | Self::Article
            | Self::Comments
            | Self::Tags
            | Self::User
            | Self::Profile
            | Self::Login
            | Self::Read => false,
        }
    }

    /// What a session does next.
    pub(super) fn script(self, rng: &mut impl Rng) -> Script {
        match self {
            Self::List => Script::List,
            Self::ListToken => Script::ListToken,
            Self::Feed => Script::Feed,
            Self::Article => Script::Article,
            Self::Comments => Script::Comments,
            Self::Tags => Script::Tags,
            Self::User => Script::User,
            Self::Profile => Script::Profile,
            Self::Login => Script::Login,
            Self::Favorite => Script::Favorite,
            Self::Browse => Script::Visit,
            Self::Read => read(rng),
            Self::Write => drawn(WRITE, rng).unwrap_or(Script::Favorite),
            Self::Mixed if rng.random_ratio(1, WRITING) => Self::Write.script(rng),
            Self::Mixed => read(rng),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Profile {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let found = Self::ALL.into_iter().find(|profile| profile.name() == text);
        found.ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|profile| profile.name()).collect();
            anyhow::anyhow!("there is no profile {text}; there are {}", names.join(", "))
        })
    }
}

fn read(rng: &mut impl Rng) -> Script {
    let profile = drawn(&READ, rng).unwrap_or(Profile::List);
    // All of them are of one kind, or this would not end.
    profile.script(rng)
}

fn drawn<T: Copy>(shares: &[(u32, T)], rng: &mut impl Rng) -> Option<T> {
    let mut left = rng.random_range(0..shares.iter().map(|(share, _)| share).sum());
    for (share, drawn) in shares {
        match left.checked_sub(*share) {
            Some(rest) => left = rest,
            None => return Some(*drawn),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_read_mix_has_the_shares_of_the_performance_page() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<Script> = (0..100_000).map(|_| Profile::Read.script(&mut rng)).collect();
        for (share, profile) in READ {
            let script = profile.script(&mut rng);
            let seen = drawn.iter().filter(|one| **one == script).count();
            let expected = share as usize * 1000;
            assert!(seen.abs_diff(expected) < 600, "{script:?}: {seen} of {expected}");
        }
        assert_eq!(READ.iter().map(|(share, _)| share).sum::<u32>(), 100);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for profile in Profile::ALL {
            assert_eq!(profile.name().parse::<Profile>().unwrap(), profile);
            assert_eq!(serde_json::to_value(profile).unwrap(), profile.name());
        }
        assert!("lists".parse::<Profile>().is_err());
    }
}
