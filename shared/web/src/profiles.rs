//! Accounts as others see them (contract 2.5 to 2.7).

use conduit_app::Profiles;
use conduit_domain::{Profile, Result};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::Call;
use crate::view::{ProfileView, View};

pub(crate) async fn show(profiles: &Profiles, call: Call<'_>) -> Result<Answer> {
    let profile = profiles.show(call.viewer(), &call.username()?).await?;
    Answer::ok(&OneProfile::from(&profile))
}

pub(crate) async fn follow(profiles: &Profiles, call: Call<'_>) -> Result<Answer> {
    let profile = profiles.follow(call.caller()?, &call.username()?).await?;
    Answer::ok(&OneProfile::from(&profile))
}

pub(crate) async fn unfollow(profiles: &Profiles, call: Call<'_>) -> Result<Answer> {
    let profile = profiles.unfollow(call.caller()?, &call.username()?).await?;
    Answer::ok(&OneProfile::from(&profile))
}

#[derive(Serialize, ToSchema)]
#[schema(as = ProfileResponse)]
pub(crate) struct OneProfile<'a> {
    profile: ProfileView<'a>,
}

impl<'a> From<&'a Profile> for OneProfile<'a> {
    fn from(profile: &'a Profile) -> Self {
        Self {
            profile: profile.into(),
        }
    }
}

impl View for OneProfile<'_> {
    fn roughly(&self) -> usize {
        20 + self.profile.roughly()
    }
}

#[cfg(test)]
mod tests {
    use conduit_domain::AccountId;

    use super::*;

    #[test]
    fn a_profile_has_its_members_in_order() {
        let profile = Profile {
            id: AccountId(1),
            username: "ada".to_owned(),
            bio: Some("Counts things.".to_owned()),
            image: None,
            following: false,
        };
        assert_eq!(
            serde_json::to_string(&OneProfile::from(&profile)).unwrap(),
            r#"{"profile":{"username":"ada","bio":"Counts things.","image":null,"following":false}}"#
        );
    }
}
