//! Updates that are refused.

use serde_json::{Value, json};

use super::super::{Check, Ctx, Failure, Outcome};
use super::{BLANK, INVALID, current, is, update, with};

const SHORT: &str = "is too short (minimum is 8 characters)";

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new("user-009", "PUT email \"\"; GET", a_blank_email_is_refused),
        Check::new("user-010", "PUT username \"\"", a_blank_username_is_refused),
        Check::new("user-011", "PUT email null", a_null_email_is_refused),
        Check::new("user-012", "PUT username null", a_null_username_is_refused),
        Check::new(
            "user-013",
            "PUT password \"\", then eight blanks; log in with the old one",
            a_blank_password_is_refused,
        ),
        Check::new("user-014", "PUT password null", a_null_password_is_refused),
        Check::new(
            "user-015",
            "PUT password of 7 characters",
            a_short_password_is_refused,
        ),
        Check::new(
            "user-020",
            "PUT {\"user\":{}}; PUT with unknown members only",
            an_update_names_at_least_one_field,
        ),
        Check::new(
            "user-021",
            "PUT all five fields wrong at once",
            all_faults_are_told_together,
        ),
        Check::new(
            "user-022",
            "PUT good bio with bad email; GET",
            a_refused_update_changes_nothing,
        ),
    ]
}

/// This update of a fresh account is refused for one field.
async fn refused(ctx: &Ctx, members: Value, field: &str, message: &str) -> Result<(), Failure> {
    let ann = ctx.register().await?;
    update(ctx, &ann, members).refused(422, field, message).await?;
    Ok(())
}

async fn a_blank_email_is_refused(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let call = update(&ctx, &ann, json!({"email": ""}));
    call.refused(422, "email", BLANK).await?;
    is(&current(&ctx, &ann).await?, with(&ann, None, None))
}

async fn a_blank_username_is_refused(ctx: Ctx) -> Outcome {
    refused(&ctx, json!({"username": ""}), "username", BLANK).await
}

async fn a_null_email_is_refused(ctx: Ctx) -> Outcome {
    refused(&ctx, json!({"email": null}), "email", BLANK).await
}

async fn a_null_username_is_refused(ctx: Ctx) -> Outcome {
    refused(&ctx, json!({"username": null}), "username", BLANK).await
}

async fn a_blank_password_is_refused(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    for password in ["", "        "] {
        let call = update(&ctx, &ann, json!({"password": password}));
        call.refused(422, "password", BLANK).await?;
    }
    let answer = ctx.login(&ann.email, &ann.password).expect(200).await?;
    is(&answer, with(&ann, None, None))
}

async fn a_null_password_is_refused(ctx: Ctx) -> Outcome {
    refused(&ctx, json!({"password": null}), "password", BLANK).await
}

async fn a_short_password_is_refused(ctx: Ctx) -> Outcome {
    refused(&ctx, json!({"password": "abcdefg"}), "password", SHORT).await
}

async fn an_update_names_at_least_one_field(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    for members in [json!({}), json!({"name": ctx.x(), "token": "t", "id": 1})] {
        let call = update(&ctx, &ann, members);
        call.refused(422, "user", BLANK).await?;
    }
    Ok(())
}

async fn all_faults_are_told_together(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let members = json!({"username": "", "email": 5, "password": "x", "bio": [], "image": {}});
    let faults = [
        ("username", BLANK),
        ("email", INVALID),
        ("password", SHORT),
        ("bio", INVALID),
        ("image", INVALID),
    ];
    update(&ctx, &ann, members).refused_all(422, &faults).await?;
    Ok(())
}

async fn a_refused_update_changes_nothing(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    ctx.update_user(&ann.token, json!({"bio": "Counts things."}))
        .await?;
    let call = update(&ctx, &ann, json!({"bio": "Draws things.", "email": "plain"}));
    call.refused(422, "email", INVALID).await?;
    is(
        &current(&ctx, &ann).await?,
        with(&ann, Some("Counts things."), None),
    )
}
