//! Bio and image.

use serde_json::json;

use super::super::{Check, Ctx, Outcome, same};
use super::{INVALID, current, is, shows, update, with};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "user-001",
            "GET /api/user after register",
            the_user_is_as_registered,
        ),
        Check::new("user-002", "PUT bio; GET", a_bio_is_kept),
        Check::new(
            "user-003",
            "PUT bio \"\"; GET; PUT bio \"   \"",
            a_blank_bio_is_none,
        ),
        Check::new(
            "user-004",
            "PUT bio text; PUT bio null; GET; PUT bio text",
            a_null_bio_is_none_until_the_next,
        ),
        Check::new("user-005", "PUT image URL; GET", an_image_is_kept),
        Check::new("user-006", "PUT image \"\"; GET", a_blank_image_is_none),
        Check::new(
            "user-007",
            "PUT image URL; PUT image null; GET",
            a_null_image_is_none,
        ),
        Check::new(
            "user-024",
            "PUT bio with U+0000; bio of 2000 / 2001; image of 2048 / 2049 characters",
            bio_and_image_have_a_length,
        ),
        Check::new(
            "user-025",
            "PUT bio with blanks, line feed, markup, emoji; GET user and profile",
            a_bio_comes_back_unchanged,
        ),
    ]
}

const IMAGE: &str = "https://example.test/pictures/ann.png?size=80&round=1";

async fn the_user_is_as_registered(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    is(&current(&ctx, &ann).await?, with(&ann, None, None))
}

async fn a_bio_is_kept(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let expected = with(&ann, Some("Updated bio"), None);
    shows(&ctx, &ann, json!({"bio": "Updated bio"}), expected).await
}

async fn a_blank_bio_is_none(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    ctx.update_user(&ann.token, json!({"bio": "Counts things."}))
        .await?;
    shows(&ctx, &ann, json!({"bio": ""}), with(&ann, None, None)).await?;
    ctx.update_user(&ann.token, json!({"bio": "Counts things."}))
        .await?;
    let answer = update(&ctx, &ann, json!({"bio": "   "})).expect(200).await?;
    is(&answer, with(&ann, None, None))
}

async fn a_null_bio_is_none_until_the_next(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let answer = update(&ctx, &ann, json!({"bio": "One"})).expect(200).await?;
    is(&answer, with(&ann, Some("One"), None))?;
    shows(&ctx, &ann, json!({"bio": null}), with(&ann, None, None)).await?;
    let answer = update(&ctx, &ann, json!({"bio": "Two"})).expect(200).await?;
    is(&answer, with(&ann, Some("Two"), None))
}

async fn an_image_is_kept(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let expected = with(&ann, None, Some(IMAGE));
    shows(&ctx, &ann, json!({"image": IMAGE}), expected).await
}

async fn a_blank_image_is_none(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    ctx.update_user(&ann.token, json!({"image": IMAGE})).await?;
    shows(&ctx, &ann, json!({"image": ""}), with(&ann, None, None)).await
}

async fn a_null_image_is_none(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let answer = update(&ctx, &ann, json!({"image": IMAGE})).expect(200).await?;
    is(&answer, with(&ann, None, Some(IMAGE)))?;
    shows(&ctx, &ann, json!({"image": null}), with(&ann, None, None)).await
}

async fn bio_and_image_have_a_length(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let call = update(&ctx, &ann, json!({"bio": "a\0b"}));
    call.refused(422, "bio", INVALID).await?;

    let (bio, image) = ("é".repeat(2000), "é".repeat(2048));
    let answer = update(&ctx, &ann, json!({"bio": bio})).expect(200).await?;
    is(&answer, with(&ann, Some(&bio), None))?;
    let call = update(&ctx, &ann, json!({"bio": format!("{bio}é")}));
    call.refused(422, "bio", "is too long (maximum is 2000 characters)")
        .await?;

    let answer = update(&ctx, &ann, json!({"image": image})).expect(200).await?;
    is(&answer, with(&ann, Some(&bio), Some(&image)))?;
    let call = update(&ctx, &ann, json!({"image": format!("{image}é")}));
    call.refused(422, "image", "is too long (maximum is 2048 characters)")
        .await?;
    Ok(())
}

async fn a_bio_comes_back_unchanged(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let bio = "  línea 1\n<b>x</b> 🦀 ";
    shows(&ctx, &ann, json!({"bio": bio}), with(&ann, Some(bio), None)).await?;
    let profile = ctx.profile(&ann.username, None).await?;
    same("bio", profile.bio.as_deref(), Some(bio))
}
