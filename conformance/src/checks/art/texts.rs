//! Texts of every kind, and updates at the same time (art-034 to art-036).

use serde_json::json;

use super::INVALID;
use super::create::with;
use crate::checks::{Check, Ctx, Outcome, article_path, same};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "art-034",
            "create and PUT with U+0000 in title, description, body, a tag",
            texts_hold_no_null_character,
        ),
        Check::new(
            "art-035",
            "create with Markdown, HTML, emoji, CRLF, outer blanks; GET",
            bodies_are_kept_as_sent,
        ),
        Check::new(
            "art-036",
            "10 simultaneous PUTs; GET",
            the_last_of_simultaneous_updates_stays,
        ),
    ]
}

async fn texts_hold_no_null_character(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let before = ctx.publish(&ann, &[&ctx.x()]).await?;
    let text = format!("a\0{}", ctx.x());
    let rows = [
        ("title", json!(text)),
        ("description", json!(text)),
        ("body", json!(text)),
        ("tagList", json!([ctx.x(), text])),
    ];
    for (member, value) in rows {
        let members = with(&ctx, member, value.clone());
        ctx.creation(&ann.token, members)
            .refused(422, member, INVALID)
            .await?;
        ctx.edit(&ann.token, &before.slug, json!({ member: value }))
            .refused(422, member, INVALID)
            .await?;
    }
    let after = ctx.article(&before.slug, None).await?;
    same("the article on GET", after, before)
}

async fn bodies_are_kept_as_sent(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let body = format!(
        "  \r\n# {x}\r\n\r\n* **bold** `code` \\ \"quoted\" /\r\n<script>alert(1 && 2)</script>&amp;\t🦀\u{2028}e\u{301}\r\n \n",
        x = ctx.x()
    );
    let description = format!(" \t About <b>{}</b>\n", ctx.x());
    let members = json!({"title": ctx.x(), "description": description, "body": body});
    let answer = ctx.creation(&ann.token, members).expect(201).await?;
    let created = answer.article()?;
    answer
        .same("body", created.body.as_deref(), Some(body.as_str()))?
        .same("description", created.description.as_str(), description.trim())?;
    let read = ctx.article(&created.slug, None).await?;
    same("the article on GET", read, created)
}

async fn the_last_of_simultaneous_updates_stays(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let slug = ctx.publish(&ann, &[]).await?.slug;
    let bodies: Vec<String> = (0..10).map(|_| ctx.x()).collect();
    let calls = bodies
        .iter()
        .map(|body| ctx.edit(&ann.token, &slug, json!({"body": body})));
    let answers = ctx.simultaneously(calls.collect()).await?;
    let mut times = Vec::new();
    for answer in &answers {
        times.push(answer.status(200)?.article()?.updated_at);
    }
    let answer = ctx.get(&article_path(&slug)).raced().expect(200).await?;
    let read = answer.article()?;
    answer
        .holds(
            "the body is one of those sent",
            read.body.is_some_and(|body| bodies.contains(&body)),
        )?
        .same(
            "updatedAt, held against the greatest answered",
            Some(read.updated_at),
            times.into_iter().max(),
        )?;
    // Which body stayed is chance and would make the stores of two deployments unequal for what runs on them next.
    ctx.remove(&ann.token, &slug).await?;
    Ok(())
}
