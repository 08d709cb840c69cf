//! Reading one article (art-016 to art-018).

use serde_json::json;

use super::stranger;
use crate::checks::{Check, Ctx, Outcome, article_path, same};
use crate::shape::{Article, Profile};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new("art-016", "GET without token", an_article_is_read_as_created),
        Check::new(
            "art-017",
            "GET unknown slug; %FF; upper case; %00",
            other_slugs_are_not_found,
        ),
        Check::new(
            "art-018",
            "favourite; follow; GET with and without token",
            flags_are_about_the_viewer,
        ),
    ]
}

async fn an_article_is_read_as_created(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let [title, description, body] = ["Title", "About", "Body"].map(|word| format!("{word} {}", ctx.x()));
    let tags = vec![ctx.x()];
    let members = json!({"title": title, "description": description, "body": body, "tagList": tags});
    let created = ctx.creation(&ann.token, members).expect(201).await?.article()?;
    let answer = ctx.get(&article_path(&created.slug)).expect(200).await?;
    let expected = Article {
        title,
        description,
        body: Some(body),
        tag_list: tags,
        favorited: false,
        favorites_count: 0,
        author: stranger(&ann),
        ..created
    };
    answer.same("the article", answer.article()?, expected)?;
    Ok(())
}

async fn other_slugs_are_not_found(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let slug = ctx.publish(&ann, &[]).await?.slug;
    let paths = [
        article_path(&format!("no-such-{}", ctx.x())),
        "/api/articles/%FF".to_owned(),
        article_path(&slug.to_uppercase()),
    ];
    for path in paths {
        ctx.get(&path).refused(404, "article", "not found").await?;
    }
    ctx.get(&format!("/api/articles/{slug}%00"))
        .refused(400, "request", "is malformed")
        .await?;
    Ok(())
}

async fn flags_are_about_the_viewer(ctx: Ctx) -> Outcome {
    let (ann, fan) = (ctx.register().await?, ctx.register().await?);
    let created = ctx.publish(&ann, &[]).await?;
    ctx.favorite(&fan.token, &created.slug).await?;
    ctx.follow(&fan.token, &ann.username).await?;
    for (token, flag) in [(Some(fan.token.as_str()), true), (None, false)] {
        let expected = Article {
            favorited: flag,
            favorites_count: 1,
            author: Profile {
                following: flag,
                ..stranger(&ann)
            },
            ..created.clone()
        };
        same("the article", ctx.article(&created.slug, token).await?, expected)?;
    }
    Ok(())
}
