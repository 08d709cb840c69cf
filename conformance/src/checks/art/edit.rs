//! Updating (art-019 to art-027).

use serde_json::{Value, json};

use super::{BLANK, INVALID};
use crate::checks::{Check, Ctx, Failure, Outcome, article_path, holds, same};
use crate::shape::Article;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "art-019",
            "PUT body; GET; two more PUTs",
            only_what_was_sent_changes,
        ),
        Check::new("art-020", "PUT body without tagList", absent_tags_are_kept),
        Check::new("art-021", "PUT tagList []; GET", an_empty_list_removes_all_tags),
        Check::new("art-022", "PUT tagList null; GET", tags_cannot_be_null),
        Check::new("art-023", "PUT other tags", a_new_list_of_tags_replaces_the_old),
        Check::new(
            "art-024",
            "PUT title; GET old and new slug",
            the_slug_follows_the_title,
        ),
        Check::new(
            "art-025",
            "PUT same title; in other case with !; PUT description",
            the_slug_stays_while_the_title_says_the_same,
        ),
        Check::new(
            "art-026",
            "PUT title, description, body blank, null, 5; GET",
            refused_updates_change_nothing,
        ),
        Check::new(
            "art-027",
            "PUT nothing; PUT unknown members",
            updates_of_nothing_change_nothing,
        ),
    ]
}

async fn edited(ctx: &Ctx, token: &str, slug: &str, members: Value) -> Result<Article, Failure> {
    ctx.edit(token, slug, members).expect(200).await?.article()
}

async fn only_what_was_sent_changes(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let before = ctx.publish(&ann, &[&ctx.x()]).await?;
    let body = format!("New {}", ctx.x());
    let after = edited(&ctx, &ann.token, &before.slug, json!({"body": body})).await?;
    let expected = Article {
        body: Some(body),
        updated_at: after.updated_at.clone(),
        ..before.clone()
    };
    same("the article", &after, &expected)?;
    holds("updatedAt is greater", after.updated_at > before.updated_at)?;
    let read = ctx.article(&before.slug, None).await?;
    same("the article on GET", &read, &expected)?;

    let mut last = after.updated_at;
    for _ in 0..2 {
        let members = json!({"body": ctx.x()});
        let next = edited(&ctx, &ann.token, &before.slug, members).await?.updated_at;
        holds("updatedAt grows with every PUT", next > last)?;
        last = next;
    }
    Ok(())
}

async fn absent_tags_are_kept(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let before = ctx.publish(&ann, &[&ctx.x(), &ctx.x()]).await?;
    let after = edited(&ctx, &ann.token, &before.slug, json!({"body": ctx.x()})).await?;
    same("tagList", &after.tag_list, &before.tag_list)?;
    same("the number of tags", after.tag_list.len(), 2)
}

async fn an_empty_list_removes_all_tags(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let slug = ctx.publish(&ann, &[&ctx.x(), &ctx.x()]).await?.slug;
    let after = edited(&ctx, &ann.token, &slug, json!({"tagList": []})).await?;
    same("tagList", after.tag_list, Vec::<String>::new())?;
    let read = ctx.article(&slug, None).await?;
    same("tagList on GET", read.tag_list, Vec::<String>::new())
}

async fn tags_cannot_be_null(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let before = ctx.publish(&ann, &[&ctx.x(), &ctx.x()]).await?;
    ctx.edit(&ann.token, &before.slug, json!({"tagList": null}))
        .refused(422, "tagList", INVALID)
        .await?;
    let after = ctx.article(&before.slug, None).await?;
    same("tagList on GET", &after.tag_list, &before.tag_list)?;
    same("the number of tags", after.tag_list.len(), 2)
}

async fn a_new_list_of_tags_replaces_the_old(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let x = ctx.x();
    let [a, b, z] = ["a", "b", "z"].map(|letter| format!("{letter}{x}"));
    let before = ctx.publish(&ann, &[&a, &b]).await?;
    same("tagList", before.tag_list, vec![a, b.clone()])?;
    let after = edited(&ctx, &ann.token, &before.slug, json!({"tagList": [z, b]})).await?;
    same("tagList", after.tag_list, vec![b, z])
}

async fn the_slug_follows_the_title(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let old = ctx.publish(&ann, &[]).await?.slug;
    let x = ctx.x();
    let title = format!("Another {x}");
    let after = edited(&ctx, &ann.token, &old, json!({"title": title})).await?;
    same("slug", after.slug.as_str(), format!("another-{x}").as_str())?;
    same("title", after.title.as_str(), title.as_str())?;
    ctx.get(&article_path(&old))
        .refused(404, "article", "not found")
        .await?;
    let read = ctx.article(&after.slug, None).await?;
    same("the article on GET", read, after)
}

async fn the_slug_stays_while_the_title_says_the_same(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let before = ctx.publish(&ann, &[]).await?;
    let louder = format!("{}!", before.title.to_uppercase());
    let rows = [
        (json!({"title": before.title}), before.title.clone()),
        (json!({"title": louder}), louder.clone()),
        (json!({"description": ctx.x()}), louder.clone()),
    ];
    for (members, title) in rows {
        let after = edited(&ctx, &ann.token, &before.slug, members).await?;
        same("slug", after.slug, before.slug.as_str())?;
        same("title", after.title, title)?;
    }
    Ok(())
}

async fn refused_updates_change_nothing(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let before = ctx.publish(&ann, &[&ctx.x()]).await?;
    let values = [
        (json!(""), BLANK),
        (json!("  "), BLANK),
        (json!(null), BLANK),
        (json!(5), INVALID),
    ];
    for member in ["title", "description", "body"] {
        for (value, message) in &values {
            ctx.edit(&ann.token, &before.slug, json!({ member: value }))
                .refused(422, member, message)
                .await?;
        }
    }
    let after = ctx.article(&before.slug, None).await?;
    same("the article on GET", after, before)
}

async fn updates_of_nothing_change_nothing(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let before = ctx.publish(&ann, &[&ctx.x()]).await?;
    let unknown = json!({
        "slug": ctx.x(), "author": {"username": ctx.x()}, "favoritesCount": 7, "createdAt": "2001-01-01T00:00:00.000Z",
    });
    for members in [json!({}), unknown] {
        let after = edited(&ctx, &ann.token, &before.slug, members).await?;
        same("the article", &after, &before)?;
    }
    let read = ctx.article(&before.slug, None).await?;
    same("the article on GET", read, before)
}
