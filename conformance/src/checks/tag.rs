//! Tags (contract 5.10).

use serde_json::json;

use super::{Check, Ctx, Failure, Outcome, same};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "tag-001",
            "create article with two tags; GET tags; delete article",
            the_tags_of_an_article_are_listed,
        ),
        Check::new(
            "tag-002",
            "two articles share a tag; delete one; PUT the other without it",
            a_tag_goes_with_its_last_article,
        ),
        Check::new(
            "tag-003",
            "tags used 3, 2, 2, 1 times",
            the_most_used_tag_comes_first,
        ),
        Check::new(
            "tag-004",
            "40 articles with 40 new tags; GET with and without token",
            every_tag_is_listed_once_for_everyone,
        )
        .alone(),
    ]
}

async fn the_tags_of_an_article_are_listed(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let (first, second) = (format!("h_{}", ctx.x()), format!("t_{}", ctx.x()));
    let article = ctx.publish(&ann, &[&first, &second]).await?;
    let answer = ctx.get("/api/tags").expect(200).await?;
    let tags = answer.tags()?;
    answer
        .holds("the first tag is listed", tags.contains(&first))?
        .holds("the second tag is listed", tags.contains(&second))?;
    ctx.remove(&ann.token, &article.slug).await?;
    Ok(())
}

/// How often `GET /api/tags` lists each of these tags.
async fn listed(ctx: &Ctx, tags: [&str; 4]) -> Result<[usize; 4], Failure> {
    let all = ctx.get("/api/tags").expect(200).await?.tags()?;
    Ok(tags.map(|tag| all.iter().filter(|listed| *listed == tag).count()))
}

async fn a_tag_goes_with_its_last_article(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let (shared, one, two, new) = (ctx.x(), ctx.x(), ctx.x(), ctx.x());
    let tags = [shared.as_str(), &one, &two, &new];
    let first = ctx.publish(&ann, &[&shared, &one]).await?;
    let second = ctx.publish(&ann, &[&shared, &two]).await?;
    same(
        "shared, first's, second's, new: with both articles",
        listed(&ctx, tags).await?,
        [1, 1, 1, 0],
    )?;
    ctx.remove(&ann.token, &first.slug).await?;
    same(
        "shared, first's, second's, new: with the second article",
        listed(&ctx, tags).await?,
        [1, 0, 1, 0],
    )?;
    let call = ctx.edit(&ann.token, &second.slug, json!({"tagList": [new]}));
    call.expect(200).await?;
    same(
        "shared, first's, second's, new: with other tags on the second article",
        listed(&ctx, tags).await?,
        [0, 0, 0, 1],
    )
}

async fn the_most_used_tag_comes_first(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let x = ctx.x();
    // By number of uses it is the reverse of every alphabet, and by code point `B` stands before `a`, which no
    // dictionary does.
    let (three, two, other_two, one) = (format!("z{x}"), format!("B{x}"), format!("a{x}"), format!("0{x}"));
    let articles: [&[&str]; 3] = [
        &[&one, &other_two, &two, &three],
        &[&other_two, &two, &three],
        &[&three],
    ];
    for tags in articles {
        ctx.publish(&ann, tags).await?;
    }
    let answer = ctx.get("/api/tags").expect(200).await?;
    let expected = [three, two, other_two, one];
    let mut found = answer.tags()?;
    found.retain(|tag| expected.contains(tag));
    answer.same("the order of these tags", found, expected)?;
    Ok(())
}

async fn every_tag_is_listed_once_for_everyone(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let tags: Vec<String> = (0..40).map(|_| ctx.x()).collect();
    for tag in &tags {
        ctx.publish(&ann, &[tag]).await?;
    }
    let answer = ctx.get("/api/tags").token(&ann.token).expect(200).await?;
    let all = answer.tags()?;
    for tag in &tags {
        let count = all.iter().filter(|listed| *listed == tag).count();
        answer.same(&format!("how often {tag} is listed"), count, 1)?;
    }
    ctx.get("/api/tags").expect(200).await?.exact(answer.bytes())?;
    Ok(())
}
