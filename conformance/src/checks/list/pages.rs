//! Order and paging: list-005 to list-010, list-016.

use serde_json::json;

use super::{entry, finds, finds_nothing, newest_first, publish_many};
use crate::checks::{Account, Check, Ctx, Failure, Outcome, holds, same};
use crate::shape::Article;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "list-005",
            "two articles; ?author=u&limit=1",
            the_first_page_holds_the_latest,
        ),
        Check::new(
            "list-006",
            "?author=u&limit=1&offset=1; delete both",
            the_second_page_holds_the_earlier,
        ),
        Check::new(
            "list-007",
            "25 articles: no limit; offset=20; walk by limit=7",
            pages_join_to_the_whole,
        ),
        Check::new(
            "list-008",
            "101 articles: limit=100, 101, 5000",
            a_page_has_at_most_a_hundred,
        ),
        Check::new(
            "list-009",
            "limit and offset out of range, no numbers",
            bad_limits_are_refused,
        ),
        Check::new(
            "list-010",
            "limit, offset empty, repeated, of 30 digits; unknown parameter",
            odd_but_good_queries_are_served,
        ),
        Check::new("list-016", "12 articles in a row, 12 at once", the_order_is_fixed),
    ]
}

async fn the_first_page_holds_the_latest(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    ctx.publish(&ann, &[]).await?;
    let later = ctx.publish(&ann, &[]).await?;
    let query = format!("author={}&limit=1", ann.username);
    finds(&ctx, &query, &[entry(&later)], 2).await
}

async fn the_second_page_holds_the_earlier(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let earlier = ctx.publish(&ann, &[]).await?;
    let later = ctx.publish(&ann, &[]).await?;
    let query = format!("author={}&limit=1&offset=1", ann.username);
    finds(&ctx, &query, &[entry(&earlier)], 2).await?;
    for slug in [earlier.slug, later.slug] {
        ctx.remove(&ann.token, &slug).await?;
    }
    finds_nothing(&ctx, &format!("author={}", ann.username)).await
}

async fn pages_join_to_the_whole(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let created = publish_many(&ctx, &ann, 25).await?;
    let all = newest_first(created.iter());
    let query = format!("author={}", ann.username);
    let (first, rest) = all.split_at(20.min(all.len()));
    finds(&ctx, &query, first, 25).await?;
    finds(&ctx, &format!("{query}&offset=20"), rest, 25).await?;
    for (page, expected) in all.chunks(7).enumerate() {
        let query = format!("{query}&limit=7&offset={}", page * 7);
        finds(&ctx, &query, expected, 25).await?;
    }
    Ok(())
}

async fn a_page_has_at_most_a_hundred(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let created = publish_many(&ctx, &ann, 101).await?;
    let latest = newest_first(created.iter().skip(1));
    for limit in [100, 101, 5000] {
        let query = format!("author={}&limit={limit}", ann.username);
        finds(&ctx, &query, &latest, 101).await?;
    }
    Ok(())
}

async fn bad_limits_are_refused(ctx: Ctx) -> Outcome {
    const SMALL: (&str, &str) = ("limit", "must be greater than or equal to 1");
    const NO_LIMIT: (&str, &str) = ("limit", "is not a number");
    const BEFORE: (&str, &str) = ("offset", "must be greater than or equal to 0");
    const NO_OFFSET: (&str, &str) = ("offset", "is not a number");
    let rows: [(&str, &[(&str, &str)]); 7] = [
        ("limit=0", &[SMALL]),
        ("limit=-1", &[SMALL]),
        ("offset=-1", &[BEFORE]),
        ("limit=abc", &[NO_LIMIT]),
        ("limit=1.5", &[NO_LIMIT]),
        ("offset=x", &[NO_OFFSET]),
        ("limit=x&offset=-1", &[NO_LIMIT, BEFORE]),
    ];
    for (query, errors) in rows {
        ctx.get(&format!("/api/articles?{query}"))
            .refused_all(422, errors)
            .await?;
    }
    Ok(())
}

async fn odd_but_good_queries_are_served(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let created = publish_many(&ctx, &ann, 101).await?;
    let all = newest_first(created.iter());
    let digits = "9".repeat(30);
    let rows = [
        ("limit=&offset=".to_owned(), 0, 20),
        ("limit=1&limit=2".to_owned(), 0, 2),
        (format!("limit={digits}"), 0, 100),
        (format!("offset={digits}"), 101, 0),
        (format!("limit={digits}&offset={digits}"), 101, 0),
        (format!("page=3&limits=x&{}=1", ctx.x()), 0, 20),
    ];
    for (query, from, length) in rows {
        let expected: Vec<Article> = all.iter().skip(from).take(length).cloned().collect();
        let query = format!("author={}&{query}", ann.username);
        finds(&ctx, &query, &expected, 101).await?;
    }
    Ok(())
}

async fn the_order_is_fixed(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let created = publish_many(&ctx, &ann, 12).await?;
    let first = newest_first(created.iter());
    finds(&ctx, &format!("author={}", ann.username), &first, 12).await?;

    let titles: Vec<String> = (0..12).map(|_| ctx.x()).collect();
    let calls = titles.iter().map(|title| {
        let members = json!({"title": title, "description": "d", "body": "b"});
        ctx.creation(&ann.token, members)
    });
    let mut at_once = Vec::new();
    for answer in ctx.simultaneously(calls.collect()).await? {
        at_once.push(entry(&answer.status(201)?.article()?));
    }
    let order = page(&ctx, &ann, 24, 0).await?;
    same("the second read", &page(&ctx, &ann, 24, 0).await?, &order)?;
    let (second, rest) = order.split_at(12.min(order.len()));
    same("the articles created before", rest, first.as_slice())?;
    same("the number created at once", second.len(), at_once.len())?;
    holds(
        "every article created at once is there",
        at_once.iter().all(|article| second.contains(article)),
    )?;
    for size in 1..24 {
        let mut joined = Vec::new();
        for offset in (0..24).step_by(size) {
            joined.extend(page(&ctx, &ann, size, offset).await?);
        }
        same(&format!("the pages of {size}, joined"), &joined, &order)?;
    }
    // An order that is chance would make the stores of two deployments unequal for what runs on them next.
    for article in &at_once {
        ctx.remove(&ann.token, &article.slug).await?;
    }
    Ok(())
}

/// A page of an author whose articles came in an order that is chance.
async fn page(ctx: &Ctx, author: &Account, limit: usize, offset: usize) -> Result<Vec<Article>, Failure> {
    let path = format!(
        "/api/articles?author={}&limit={limit}&offset={offset}",
        author.username
    );
    let answer = ctx.get(&path).raced().expect(200).await?;
    let list = answer.articles()?;
    answer.same("articlesCount", list.count, 24)?;
    Ok(list.articles)
}
