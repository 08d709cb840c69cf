//! One's own account (contract 2.1 to 2.4).

use conduit_app::{Session, Users};
use conduit_domain::Result;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::Call;
use crate::view::View;

pub(crate) async fn register(users: &Users, mut call: Call<'_>) -> Result<Answer> {
    let session = users.register(call.body()?).await?;
    Answer::created(&UserView::from(&session))
}

pub(crate) async fn log_in(users: &Users, mut call: Call<'_>) -> Result<Answer> {
    let session = users.log_in(call.body()?).await?;
    Answer::ok(&UserView::from(&session))
}

pub(crate) async fn current(users: &Users, call: Call<'_>) -> Result<Answer> {
    let session = users.current(call.caller()?).await?;
    Answer::ok(&UserView::from(&session))
}

pub(crate) async fn update(users: &Users, mut call: Call<'_>) -> Result<Answer> {
    let session = users.update(call.caller()?, call.body()?).await?;
    Answer::ok(&UserView::from(&session))
}

/// An account as its owner sees it, with a token just issued.
#[derive(Serialize, ToSchema)]
#[schema(as = User)]
struct UserFields<'a> {
    email: &'a str,
    /// A JWT, to be sent as `Authorization: Token <jwt>`.
    token: &'a str,
    username: &'a str,
    #[schema(required)]
    bio: Option<&'a str>,
    #[schema(required)]
    image: Option<&'a str>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = UserResponse)]
pub(crate) struct UserView<'a> {
    user: UserFields<'a>,
}

impl<'a> From<&'a Session> for UserView<'a> {
    fn from(session: &'a Session) -> Self {
        let Session { account, token } = session;
        Self {
            user: UserFields {
                email: &account.email,
                token,
                username: &account.username,
                bio: account.bio.as_deref(),
                image: account.image.as_deref(),
            },
        }
    }
}

impl View for UserView<'_> {
    fn roughly(&self) -> usize {
        let UserFields {
            email,
            token,
            username,
            bio,
            image,
        } = &self.user;
        100 + email.len() + token.len() + username.len() + bio.map_or(0, str::len) + image.map_or(0, str::len)
    }
}

#[cfg(test)]
mod tests {
    use conduit_domain::{Account, AccountId};

    use super::*;

    #[test]
    fn a_user_has_its_members_in_order() {
        let mut account = Account {
            id: AccountId(1),
            username: "ada".to_owned(),
            email: "ada@example.test".to_owned(),
            bio: None,
            image: None,
        };
        let shown = |account: &Account| {
            let session = Session {
                account: account.clone(),
                token: "a.b.c".to_owned(),
            };
            serde_json::to_string(&UserView::from(&session)).unwrap()
        };
        assert_eq!(
            shown(&account),
            r#"{"user":{"email":"ada@example.test","token":"a.b.c","username":"ada","bio":null,"image":null}}"#
        );
        account.bio = Some("línea 1\n<b>\"x\"</b> 🦀 /".to_owned());
        account.image = Some("https://x.test/a.png".to_owned());
        assert_eq!(
            shown(&account),
            r#"{"user":{"email":"ada@example.test","token":"a.b.c","username":"ada","bio":"línea 1\n<b>\"x\"</b> 🦀 /","image":"https://x.test/a.png"}}"#
        );
    }
}
