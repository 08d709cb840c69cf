//! Filters: list-003, list-004, list-011, list-012, list-014, list-015.

use super::{asked, entry, finds, finds_nothing, newest_first};
use crate::checks::{Account, Check, Ctx, Failure, Outcome, enc, same};
use crate::shape::{Article, Profile};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "list-003",
            "?author=u without and with token",
            an_author_has_a_list,
        ),
        Check::new("list-004", "?tag=d_x", a_tag_has_a_list),
        Check::new(
            "list-011",
            "unknown author, favorited, tag; U+0000 and %FF in each",
            what_nobody_has_finds_nothing,
        ),
        Check::new(
            "list-012",
            "tag+author, author+favorited, tag+favorited, all three, with limit",
            all_filters_must_hold,
        ),
        Check::new(
            "list-014",
            "tags with +, blank, non-ASCII, capitals",
            tags_are_matched_exactly,
        ),
        Check::new(
            "list-015",
            "?author= and ?favorited= in other letter case",
            names_are_matched_in_any_letter_case,
        ),
    ]
}

async fn an_author_has_a_list(ctx: Ctx) -> Outcome {
    let (ann, ben, fan) = (
        ctx.register().await?,
        ctx.register().await?,
        ctx.register().await?,
    );
    let mut own = Vec::new();
    for _ in 0..3 {
        own.push(ctx.publish(&ann, &[]).await?);
        ctx.publish(&ben, &[]).await?;
    }
    let query = format!("author={}", ann.username);
    let plain = newest_first(own.iter());
    finds(&ctx, &query, &plain, 3).await?;

    ctx.follow(&fan.token, &ann.username).await?;
    let followed = |article: &Article| Article {
        author: Profile {
            following: true,
            ..article.author.clone()
        },
        ..article.clone()
    };
    let seen: Vec<Article> = plain.iter().map(followed).collect();
    for (account, expected) in [(&fan, &seen), (&ben, &plain)] {
        let list = ctx.list(&query, Some(&account.token)).await?;
        same("the articles with token", &list.articles, expected)?;
        same("articlesCount with token", list.count, 3)?;
    }
    Ok(())
}

async fn a_tag_has_a_list(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let [d, t] = ["d", "t"].map(|letter| format!("{letter}_{}", ctx.x()));
    let both = ctx.publish(&ann, &[&d, &t]).await?;
    ctx.publish(&ann, &[&t]).await?;
    let one = ctx.publish(&ben, &[&d]).await?;
    let query = format!("tag={d}");
    finds(&ctx, &query, &[entry(&one), entry(&both)], 2).await?;
    let answer = asked(&ctx, &query, None).await?;
    let list = answer.articles()?;
    answer.holds(
        "every tagList contains the tag",
        list.articles.iter().all(|article| article.tag_list.contains(&d)),
    )?;
    Ok(())
}

async fn what_nobody_has_finds_nothing(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let tag = ctx.x();
    let article = ctx.publish(&ann, &[&tag]).await?;
    ctx.favorite(&ann.token, &article.slug).await?;
    // What is there must not be found by a text that is cut at the odd character.
    let rows = [
        ("author", &ann.username),
        ("favorited", &ann.username),
        ("tag", &tag),
    ];
    for (filter, there) in rows {
        let found = ctx.list(&format!("{filter}={there}"), None).await?;
        same("articlesCount of what is there", found.count, 1)?;
        let unknown = ctx.x();
        let values = [
            unknown.clone(),
            format!("{there}%00"),
            "%00".to_owned(),
            format!("{unknown}%00"),
            format!("{there}%FF"),
            format!("%FF{unknown}"),
        ];
        for value in values {
            finds_nothing(&ctx, &format!("{filter}={value}")).await?;
        }
    }
    Ok(())
}

/// An article, and which filters it answers to.
struct Row {
    article: Article,
    author: usize,
    tags: Vec<usize>,
    liked: bool,
}

async fn all_filters_must_hold(ctx: Ctx) -> Outcome {
    let authors = [ctx.register().await?, ctx.register().await?];
    let fan = ctx.register().await?;
    let tags = [ctx.x(), ctx.x()];
    let rows = grid(&ctx, &authors, &fan, &tags).await?;

    for (a, author) in authors.iter().enumerate() {
        for (t, tag) in tags.iter().enumerate() {
            let (by, about, liked) = (
                format!("author={}", author.username),
                format!("tag={tag}"),
                format!("favorited={}", fan.username),
            );
            let is_by = |row: &Row| row.author == a;
            let is_about = |row: &Row| row.tags.contains(&t);
            let (first, second, third, all) = (
                chosen(&rows, |row| is_about(row) && is_by(row)),
                chosen(&rows, |row| is_by(row) && row.liked),
                chosen(&rows, |row| is_about(row) && row.liked),
                chosen(&rows, |row| is_about(row) && is_by(row) && row.liked),
            );
            let combinations = [
                (format!("{about}&{by}"), first),
                (format!("{by}&{liked}"), second),
                (format!("{about}&{liked}"), third),
                (format!("{liked}&{about}&{by}"), all),
            ];
            for (query, expected) in combinations {
                finds(&ctx, &query, &expected, expected.len()).await?;
                let (head, tail) = expected.split_at(expected.len().min(1));
                finds(&ctx, &format!("{query}&limit=1"), head, expected.len()).await?;
                finds(&ctx, &format!("{query}&offset=1"), tail, expected.len()).await?;
            }
        }
    }
    Ok(())
}

/// Two authors, articles with the first, the second, both and none of two tags, half of them favourites of one account
/// and all of them of another.
async fn grid(
    ctx: &Ctx,
    authors: &[Account; 2],
    fan: &Account,
    tags: &[String; 2],
) -> Result<Vec<Row>, Failure> {
    let other = ctx.register().await?;
    let mut rows = Vec::new();
    for carried in [vec![0], vec![1], vec![0, 1], vec![]] {
        for liked in [true, false] {
            for (a, author) in authors.iter().enumerate() {
                let names: Vec<&str> = tags
                    .iter()
                    .enumerate()
                    .filter(|(t, _)| carried.contains(t))
                    .map(|(_, tag)| tag.as_str())
                    .collect();
                let article = ctx.publish(author, &names).await?;
                let mut article = ctx.favorite(&other.token, &article.slug).await?;
                if liked {
                    article = ctx.favorite(&fan.token, &article.slug).await?;
                }
                article.favorited = false;
                rows.push(Row {
                    article,
                    author: a,
                    tags: carried.clone(),
                    liked,
                });
            }
        }
    }
    Ok(rows)
}

/// Those that the filters choose, as an anonymous list shows them.
fn chosen(rows: &[Row], holds: impl Fn(&Row) -> bool) -> Vec<Article> {
    newest_first(rows.iter().filter(|row| holds(row)).map(|row| &row.article))
}

async fn tags_are_matched_exactly(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let x = ctx.x();
    let [plus, blank, accents, capital] = ["C++", "web dev", "ünï", "Rust"].map(|word| format!("{word}{x}"));
    for tag in [&plus, &blank, &accents, &capital] {
        let article = ctx.publish(&ann, &[tag]).await?;
        let found = [entry(&article)];
        finds(&ctx, &format!("tag={}", enc(tag)), &found, 1).await?;
        let form = enc(tag).replace("%20", "+");
        finds(&ctx, &format!("tag={form}"), &found, 1).await?;
    }
    finds_nothing(&ctx, &format!("tag={}", capital.to_lowercase())).await
}

async fn names_are_matched_in_any_letter_case(ctx: Ctx) -> Outcome {
    let ann = ctx.register_as(&format!("Zoë{}Жук", ctx.x())).await?;
    let article = ctx.publish(&ann, &[]).await?;
    ctx.favorite(&ann.token, &article.slug).await?;
    for filter in ["author", "favorited"] {
        let stored = asked(&ctx, &format!("{filter}={}", enc(&ann.username)), None).await?;
        let list = stored.articles()?;
        stored
            .same("the slugs", list.slugs(), vec![article.slug.as_str()])?
            .same("articlesCount", list.count, 1)?;
        for spelling in [ann.username.to_uppercase(), ann.username.to_lowercase()] {
            let other = asked(&ctx, &format!("{filter}={}", enc(&spelling)), None).await?;
            other.exact(stored.bytes())?;
        }
    }
    Ok(())
}
