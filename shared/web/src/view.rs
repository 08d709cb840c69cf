//! What views of all areas share.

use conduit_domain::{Profile, Timestamp};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// Something that is shown as JSON. The order of its fields is the order of members (contract 1.5).
pub(crate) trait View: Serialize {
    /// About how many bytes it takes, so that its buffer need not grow.
    fn roughly(&self) -> usize;
}

/// An account as others see it; also the author of an article or comment.
#[derive(Serialize, ToSchema)]
#[schema(as = Profile)]
pub(crate) struct ProfileView<'a> {
    username: &'a str,
    #[schema(required)]
    bio: Option<&'a str>,
    #[schema(required)]
    image: Option<&'a str>,
    /// Whether the viewer follows this account.
    following: bool,
}

impl<'a> From<&'a Profile> for ProfileView<'a> {
    fn from(profile: &'a Profile) -> Self {
        Self {
            username: &profile.username,
            bio: profile.bio.as_deref(),
            image: profile.image.as_deref(),
            following: profile.following,
        }
    }
}

impl View for ProfileView<'_> {
    fn roughly(&self) -> usize {
        80 + self.username.len() + self.bio.map_or(0, str::len) + self.image.map_or(0, str::len)
    }
}

/// Writes a moment in the form of contract 1.6.
pub(crate) fn moment<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(moment.text().as_str())
}
