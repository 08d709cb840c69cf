//! The list of all articles, which others write to as well: list-001, list-002, list-013.

use super::entry;
use crate::checks::{Check, Ctx, Outcome};
use crate::shape::{Article, Profile};

// What stands in the list of everything depends on everybody, so between deployments only its shape is compared; and
// nobody may push the check's own article from the first page.
pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new("list-001", "GET list without token", everybody_reads_the_list).alone(),
        Check::new("list-002", "GET list with token", flags_are_about_the_caller).alone(),
        Check::new(
            "list-013",
            "?author=&tag=&favorited=",
            empty_filters_are_no_filters,
        )
        .alone(),
    ]
}

async fn everybody_reads_the_list(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let article = ctx.publish(&ann, &[&ctx.x()]).await?;
    let answer = ctx.get("/api/articles").raced().expect(200).await?;
    // Nine members, no body, types and times: the shape itself.
    let list = answer.articles()?;
    answer.nth(&list.articles, 0)?;
    answer
        .holds("articlesCount is at least 1", list.count >= 1)?
        .holds(
            "articlesCount counts at least what is shown",
            usize::try_from(list.count).is_ok_and(|count| count >= list.articles.len()),
        )?
        .same(
            "the new article in the list",
            list.find(&article.slug),
            Some(&entry(&article)),
        )?;
    Ok(())
}

async fn flags_are_about_the_caller(ctx: Ctx) -> Outcome {
    let (ann, ben, fan) = (
        ctx.register().await?,
        ctx.register().await?,
        ctx.register().await?,
    );
    let liked = ctx.publish(&ann, &[]).await?;
    let other = ctx.publish(&ben, &[]).await?;
    ctx.favorite(&fan.token, &liked.slug).await?;
    ctx.follow(&fan.token, &ann.username).await?;
    for (account, flag) in [(&fan, true), (&ben, false)] {
        let answer = ctx
            .get("/api/articles")
            .token(&account.token)
            .raced()
            .expect(200)
            .await?;
        let list = answer.articles()?;
        let expected = Article {
            favorited: flag,
            favorites_count: 1,
            author: Profile {
                following: flag,
                ..liked.author.clone()
            },
            ..entry(&liked)
        };
        answer
            .same("the favourite", list.find(&liked.slug), Some(&expected))?
            .same("the other article", list.find(&other.slug), Some(&entry(&other)))?
            .holds("articlesCount is at least 2", list.count >= 2)?;
    }
    Ok(())
}

async fn empty_filters_are_no_filters(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let slug = ctx.publish(&ann, &[]).await?.slug;
    let plain = ctx.get("/api/articles").raced().expect(200).await?;
    plain.holds(
        "the new article is in the list",
        plain.articles()?.find(&slug).is_some(),
    )?;
    let queries = ["author=&tag=&favorited=", "author=", "tag=", "favorited"];
    for query in queries {
        let path = format!("/api/articles?{query}");
        let answer = ctx.get(&path).raced().expect(200).await?;
        answer.exact(plain.bytes())?;
    }
    Ok(())
}
