//! What viewers see of accounts, wherever these are shown: split-010 to split-012, split-017.

use serde_json::json;

use super::{appears, followed, writer};
use crate::checks::art::stranger;
use crate::checks::list::NO_ARTICLES;
use crate::checks::{Account, Check, Ctx, Failure, Outcome, same};
use crate::shape::Profile;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "split-010",
            "A changes bio and image, then clears both; all views after each",
            texts_about_oneself_show_everywhere,
        ),
        Check::new(
            "split-011",
            "F follows A; all views as F, then anonymous",
            following_shows_everywhere,
        ),
        Check::new(
            "split-012",
            "F unfollows A; all views; feed",
            unfollowing_shows_everywhere,
        ),
        Check::new(
            "split-017",
            "comments of A, B, C; viewer follows A; GET comments",
            following_is_told_by_author,
        ),
    ]
}

async fn texts_about_oneself_show_everywhere(ctx: Ctx) -> Outcome {
    let (ann, slug) = writer(&ctx).await?;
    let fan = ctx.register().await?;
    ctx.follow(&fan.token, &ann.username).await?;
    let (bio, image) = (
        format!("About {}", ctx.x()),
        format!("https://img.example/{}", ctx.x()),
    );
    for (bio, image) in [(Some(bio), Some(image)), (None, None)] {
        ctx.update_user(&ann.token, json!({"bio": bio, "image": image}))
            .await?;
        let shown = Profile {
            bio,
            image,
            ..stranger(&ann)
        };
        appears(&ctx, &ann, &slug, None, &shown).await?;
        appears(&ctx, &ann, &slug, Some(&fan), &followed(shown)).await?;
    }
    Ok(())
}

async fn following_shows_everywhere(ctx: Ctx) -> Outcome {
    let (ann, slug) = writer(&ctx).await?;
    let fan = ctx.register().await?;
    ctx.follow(&fan.token, &ann.username).await?;
    let shown = followed(stranger(&ann));
    appears(&ctx, &ann, &slug, Some(&fan), &shown).await?;
    let favourite = ctx.favorite(&fan.token, &slug).await?;
    same("the author in the favourite's answer", favourite.author, shown)?;
    appears(&ctx, &ann, &slug, None, &stranger(&ann)).await
}

async fn unfollowing_shows_everywhere(ctx: Ctx) -> Outcome {
    let (ann, slug) = writer(&ctx).await?;
    let fan = ctx.register().await?;
    ctx.follow(&fan.token, &ann.username).await?;
    appears(&ctx, &ann, &slug, Some(&fan), &followed(stranger(&ann))).await?;
    ctx.unfollow(&fan.token, &ann.username).await?;
    appears(&ctx, &ann, &slug, Some(&fan), &stranger(&ann)).await?;
    let favourite = ctx.favorite(&fan.token, &slug).await?;
    same(
        "the author in the favourite's answer",
        favourite.author,
        stranger(&ann),
    )?;
    ctx.get("/api/articles/feed")
        .token(&fan.token)
        .expect(200)
        .await?
        .exact(NO_ARTICLES)?;
    Ok(())
}

async fn following_is_told_by_author(ctx: Ctx) -> Outcome {
    let accounts = [
        ctx.register().await?,
        ctx.register().await?,
        ctx.register().await?,
    ];
    let [ann, ben, _] = &accounts;
    let viewer = ctx.register().await?;
    ctx.follow(&viewer.token, &ann.username).await?;
    let slug = ctx.publish(ben, &[]).await?.slug;
    for account in &accounts {
        ctx.comment(&account.token, &slug, &ctx.x()).await?;
    }
    for (token, follows) in [(Some(viewer.token.as_str()), true), (None, false)] {
        let mut authors = authors(&ctx, &slug, token).await?;
        // Newest first: back to the order of the accounts.
        authors.reverse();
        let expected: Vec<Profile> = accounts
            .iter()
            .map(|account: &Account| Profile {
                following: follows && account == ann,
                ..stranger(account)
            })
            .collect();
        same("the authors of the comments", authors, expected)?;
    }
    Ok(())
}

async fn authors(ctx: &Ctx, slug: &str, token: Option<&str>) -> Result<Vec<Profile>, Failure> {
    let comments = ctx.comments(slug, token).await?;
    Ok(comments.into_iter().map(|comment| comment.author).collect())
}
