//! Username, e-mail, password.

use serde_json::json;

use super::super::{Account, Check, Ctx, Failure, Outcome, same};
use super::{current, is, update, with};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "user-008",
            "PUT username and email together; GET with the token of the answer",
            username_and_email_change_together,
        ),
        Check::new(
            "user-016",
            "PUT password of 8 plain characters; log in with new and old",
            eight_plain_characters_are_a_password,
        ),
        Check::new(
            "user-017",
            "PUT password of 64 characters; log in with it",
            sixty_four_characters_are_a_password,
        ),
        Check::new(
            "user-018",
            "PUT name and email of another account, in its and in other letter case",
            what_another_account_has_is_taken,
        ),
        Check::new(
            "user-019",
            "PUT own username and email unchanged; then in other letter case",
            ones_own_is_no_conflict,
        ),
        Check::new(
            "user-023",
            "PUT username, email, password; the token of register on user and create article",
            a_token_outlives_all_changes,
        ),
    ]
}

async fn username_and_email_change_together(ctx: Ctx) -> Outcome {
    let mut ann = ctx.register().await?;
    ctx.update_user(&ann.token, json!({"bio": "Counts things.", "image": "ann.png"}))
        .await?;
    let (name, email) = (ctx.x(), format!("{}@example.test", ctx.x()));
    let call = update(&ctx, &ann, json!({"username": name, "email": email}));
    let answer = call.expect(200).await?;
    (ann.username, ann.email, ann.token) = (name, email, answer.user()?.token);
    let expected = with(&ann, Some("Counts things."), Some("ann.png"));
    is(&answer, expected.clone())?;
    is(&current(&ctx, &ann).await?, expected)
}

async fn eight_plain_characters_are_a_password(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    new_password_logs_in(&ctx, &ann, "abcdefgh").await?;
    let call = ctx.login(&ann.email, &ann.password);
    call.refused(401, "credentials", "invalid").await?;
    Ok(())
}

async fn sixty_four_characters_are_a_password(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    new_password_logs_in(&ctx, &ann, &"abcdefgh".repeat(8)).await
}

async fn new_password_logs_in(ctx: &Ctx, ann: &Account, password: &str) -> Result<(), Failure> {
    let answer = update(ctx, ann, json!({"password": password}))
        .expect(200)
        .await?;
    is(&answer, with(ann, None, None))?;
    let answer = ctx.login(&ann.email, password).expect(200).await?;
    is(&answer, with(ann, None, None))
}

async fn what_another_account_has_is_taken(ctx: Ctx) -> Outcome {
    const TAKEN: &str = "has already been taken";
    const NAME: (&str, &str) = ("username", TAKEN);
    const EMAIL: (&str, &str) = ("email", TAKEN);
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let (name, email) = (&ben.username, &ben.email);
    // With a bio that could be written before the conflict is found.
    let loud =
        json!({"username": name.to_uppercase(), "email": email.to_uppercase(), "bio": "Draws things."});
    let rows = [
        (json!({"username": name}), vec![NAME]),
        (json!({"email": email}), vec![EMAIL]),
        (json!({"username": name, "email": email}), vec![NAME, EMAIL]),
        (loud, vec![NAME, EMAIL]),
    ];
    for (members, conflicts) in rows {
        update(&ctx, &ann, members).refused_all(409, &conflicts).await?;
    }
    is(&current(&ctx, &ann).await?, with(&ann, None, None))
}

async fn ones_own_is_no_conflict(ctx: Ctx) -> Outcome {
    let mut ann = ctx.register().await?;
    let call = update(&ctx, &ann, json!({"username": ann.username, "email": ann.email}));
    is(&call.expect(200).await?, with(&ann, None, None))?;
    ann.username = ann.username.to_uppercase();
    ann.email = ann.email.to_uppercase();
    let call = update(&ctx, &ann, json!({"username": ann.username, "email": ann.email}));
    is(&call.expect(200).await?, with(&ann, None, None))
}

async fn a_token_outlives_all_changes(ctx: Ctx) -> Outcome {
    let mut ann = ctx.register().await?;
    let (name, email, password) = (ctx.x(), format!("{}@example.test", ctx.x()), ctx.x());
    let members = json!({"username": name, "email": email, "password": password});
    ctx.update_user(&ann.token, members).await?;
    (ann.username, ann.email) = (name, email);
    is(&current(&ctx, &ann).await?, with(&ann, None, None))?;
    let article = ctx.publish(&ann, &[]).await?;
    same("author.username", article.author.username, ann.username)
}
