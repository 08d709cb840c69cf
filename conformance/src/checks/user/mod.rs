//! The current user (contract 5.3).

mod account;
mod faults;
mod profile;

use serde_json::{Value, json};

use super::{Account, Check, Ctx, Failure};
use crate::answer::Answer;
use crate::call::Call;
use crate::shape::User;

const BLANK: &str = "can't be blank";
const INVALID: &str = "is invalid";

pub(super) fn checks() -> Vec<Check> {
    let parts = [profile::checks(), account::checks(), faults::checks()];
    let mut checks: Vec<Check> = parts.into_iter().flatten().collect();
    // The files go by subject, the catalogue does not.
    checks.sort_by_key(|check| check.id);
    checks
}

/// The call that updates the account from these members (without the wrapper), not sent yet.
// Checks write `json!(…)` where they use it.
#[allow(clippy::needless_pass_by_value)]
fn update(ctx: &Ctx, account: &Account, members: Value) -> Call {
    ctx.put("/api/user")
        .token(&account.token)
        .json(&json!({ "user": members }))
}

/// The answer of `GET /api/user`, which is 200.
async fn current(ctx: &Ctx, account: &Account) -> Result<Answer, Failure> {
    ctx.get("/api/user").token(&account.token).expect(200).await
}

/// A User without its token, of which the shape asks that it is not empty: email, username, bio, image.
type Known = (String, String, Option<String>, Option<String>);

fn known(user: User) -> Known {
    (user.email, user.username, user.bio, user.image)
}

/// What is to be known about the account when it has this bio and image.
fn with(account: &Account, bio: Option<&str>, image: Option<&str>) -> Known {
    let (email, username) = (account.email.clone(), account.username.clone());
    (email, username, bio.map(str::to_owned), image.map(str::to_owned))
}

/// The answer is this User, its token aside.
fn is(answer: &Answer, expected: Known) -> Result<(), Failure> {
    answer.same("email, username, bio, image", known(answer.user()?), expected)?;
    Ok(())
}

/// Updates the account, and both the answer and `GET /api/user` show this User.
async fn shows(ctx: &Ctx, account: &Account, members: Value, expected: Known) -> Result<(), Failure> {
    is(
        &update(ctx, account, members).expect(200).await?,
        expected.clone(),
    )?;
    is(&current(ctx, account).await?, expected)
}
