//! Who may change what, and what is judged first (art-028 to art-033).

use serde_json::json;

use crate::checks::{Check, Ctx, Outcome, article_path, same};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new("art-028", "another account PUTs", only_the_author_updates),
        Check::new("art-029", "PUT unknown slug", what_is_not_there_cannot_be_updated),
        Check::new("art-030", "another account DELETEs; GET", only_the_author_deletes),
        Check::new(
            "art-031",
            "DELETE unknown slug",
            what_is_not_there_cannot_be_deleted,
        ),
        Check::new("art-032", "DELETE; GET; DELETE again", a_deleted_article_is_gone),
        Check::new(
            "art-033",
            "PUT unknown or somebody else's slug with blank title, malformed JSON",
            the_article_is_judged_between_syntax_and_members,
        ),
    ]
}

async fn only_the_author_updates(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let before = ctx.publish(&ann, &[&ctx.x()]).await?;
    ctx.edit(&ben.token, &before.slug, json!({"body": ctx.x()}))
        .refused(403, "article", "forbidden")
        .await?;
    let after = ctx.article(&before.slug, None).await?;
    same("the article on GET", after, before)
}

async fn what_is_not_there_cannot_be_updated(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let slug = format!("no-such-{}", ctx.x());
    ctx.edit(&ann.token, &slug, json!({"body": ctx.x()}))
        .refused(404, "article", "not found")
        .await?;
    Ok(())
}

async fn only_the_author_deletes(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let before = ctx.publish(&ann, &[]).await?;
    ctx.delete(&article_path(&before.slug))
        .token(&ben.token)
        .refused(403, "article", "forbidden")
        .await?;
    let after = ctx.article(&before.slug, None).await?;
    same("the article on GET", after, before)
}

async fn what_is_not_there_cannot_be_deleted(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    ctx.delete(&article_path(&format!("no-such-{}", ctx.x())))
        .token(&ann.token)
        .refused(404, "article", "not found")
        .await?;
    Ok(())
}

async fn a_deleted_article_is_gone(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let path = article_path(&ctx.publish(&ann, &[]).await?.slug);
    ctx.delete(&path).token(&ann.token).expect(204).await?;
    ctx.get(&path).refused(404, "article", "not found").await?;
    ctx.delete(&path)
        .token(&ann.token)
        .refused(404, "article", "not found")
        .await?;
    Ok(())
}

async fn the_article_is_judged_between_syntax_and_members(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let before = ctx.publish(&ann, &[]).await?;
    let unknown = format!("no-such-{}", ctx.x());
    let blank = json!({"title": ""});
    ctx.edit(&ben.token, &unknown, blank.clone())
        .refused(404, "article", "not found")
        .await?;
    ctx.edit(&ben.token, &before.slug, blank)
        .refused(403, "article", "forbidden")
        .await?;
    for slug in [&unknown, &before.slug] {
        ctx.put(&article_path(slug))
            .token(&ben.token)
            .body(r#"{"article":"#)
            .refused(400, "request", "is malformed")
            .await?;
    }
    let after = ctx.article(&before.slug, None).await?;
    same("the article on GET", after, before)
}
