//! Favourites (contract 5.8).

use super::list::{asked, entry, finds, finds_nothing};
use super::{Account, Check, Ctx, Failure, Outcome, article_path, same};
use crate::call::Call;
use crate::shape::Article;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "fav-001",
            "favourite own article",
            an_author_may_like_the_own_article,
        ),
        Check::new(
            "fav-002",
            "?favorited=u without and with token",
            favourites_have_a_list,
        ),
        Check::new(
            "fav-003",
            "unfavourite; GET; ?favorited=u; delete",
            favourites_can_be_taken_back,
        ),
        Check::new(
            "fav-004",
            "favourite unknown slug",
            what_is_not_there_is_no_favourite,
        ),
        Check::new(
            "fav-005",
            "unfavourite unknown slug",
            what_is_not_there_cannot_be_taken_back,
        ),
        Check::new(
            "fav-006",
            "favourite twice; unfavourite twice",
            repetition_changes_nothing,
        ),
        Check::new(
            "fav-007",
            "three accounts favourite; GET by a fan, another, nobody",
            the_count_is_of_all_and_the_flag_of_the_viewer,
        ),
        Check::new(
            "fav-008",
            "10 accounts favourite at once; one account 10 times at once",
            simultaneous_favourites_are_counted,
        ),
    ]
}

/// The article with this flag and this count.
fn liked(article: &Article, favorited: bool, favorites_count: u64) -> Article {
    Article {
        favorited,
        favorites_count,
        ..article.clone()
    }
}

fn path(slug: &str) -> String {
    format!("{}/favorite", article_path(slug))
}

async fn an_author_may_like_the_own_article(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let article = ctx.publish(&ann, &[&ctx.x()]).await?;
    let answer = ctx
        .post(&path(&article.slug))
        .token(&ann.token)
        .expect(200)
        .await?;
    answer.same("the article", answer.article()?, liked(&article, true, 1))?;
    Ok(())
}

async fn favourites_have_a_list(ctx: Ctx) -> Outcome {
    let (ann, fan) = (ctx.register().await?, ctx.register().await?);
    let article = ctx.publish(&ann, &[]).await?;
    ctx.publish(&ann, &[]).await?;
    ctx.favorite(&fan.token, &article.slug).await?;
    let query = format!("favorited={}", fan.username);
    let rows = [(None, false), (Some(&fan), true), (Some(&ann), false)];
    for (viewer, flag) in rows {
        let token = viewer.map(|account| account.token.as_str());
        let answer = asked(&ctx, &query, token).await?;
        let list = answer.articles()?;
        answer
            .same(
                "the articles",
                list.articles,
                vec![entry(&liked(&article, flag, 1))],
            )?
            .same("articlesCount", list.count, 1)?;
    }
    Ok(())
}

async fn favourites_can_be_taken_back(ctx: Ctx) -> Outcome {
    let (ann, fan) = (ctx.register().await?, ctx.register().await?);
    let article = ctx.publish(&ann, &[]).await?;
    ctx.favorite(&fan.token, &article.slug).await?;
    let answer = ctx
        .delete(&path(&article.slug))
        .token(&fan.token)
        .expect(200)
        .await?;
    answer.same("the article", answer.article()?, article.clone())?;
    let read = ctx.article(&article.slug, Some(&fan.token)).await?;
    same("the article on GET", &read, &article)?;
    finds_nothing(&ctx, &format!("favorited={}", fan.username)).await?;
    ctx.remove(&ann.token, &article.slug).await?;
    Ok(())
}

async fn what_is_not_there_is_no_favourite(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    ctx.post(&path(&format!("no-such-{}", ctx.x())))
        .token(&ann.token)
        .refused(404, "article", "not found")
        .await?;
    Ok(())
}

async fn what_is_not_there_cannot_be_taken_back(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    ctx.delete(&path(&format!("no-such-{}", ctx.x())))
        .token(&ann.token)
        .refused(404, "article", "not found")
        .await?;
    Ok(())
}

async fn repetition_changes_nothing(ctx: Ctx) -> Outcome {
    let (ann, fan) = (ctx.register().await?, ctx.register().await?);
    let article = ctx.publish(&ann, &[]).await?;
    for _ in 0..2 {
        let after = ctx.favorite(&fan.token, &article.slug).await?;
        same("the favourite", after, liked(&article, true, 1))?;
    }
    for _ in 0..2 {
        let after = ctx.unfavorite(&fan.token, &article.slug).await?;
        same("the article", &after, &article)?;
    }
    Ok(())
}

async fn the_count_is_of_all_and_the_flag_of_the_viewer(ctx: Ctx) -> Outcome {
    let (ann, other) = (ctx.register().await?, ctx.register().await?);
    let article = ctx.publish(&ann, &[]).await?;
    let mut fans = Vec::new();
    for count in 1..=3 {
        let fan = ctx.register().await?;
        let after = ctx.favorite(&fan.token, &article.slug).await?;
        same("the favourite", after, liked(&article, true, count))?;
        fans.push(fan);
    }
    let views = fans.iter().map(|fan| (Some(fan), true));
    for (viewer, flag) in views.chain([(Some(&other), false), (Some(&ann), false), (None, false)]) {
        let token = viewer.map(|account: &Account| account.token.as_str());
        let read = ctx.article(&article.slug, token).await?;
        // The whole article: updatedAt is as it was.
        same("the article on GET", read, liked(&article, flag, 3))?;
    }
    finds(
        &ctx,
        &format!("author={}", ann.username),
        &[entry(&liked(&article, false, 3))],
        1,
    )
    .await
}

async fn simultaneous_favourites_are_counted(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let article = ctx.publish(&ann, &[]).await?;
    let mut calls = Vec::new();
    for _ in 0..10 {
        let fan = ctx.register().await?;
        calls.push(ctx.post(&path(&article.slug)).token(&fan.token));
    }
    all_like(&ctx, &article, calls).await?;
    let read = ctx.article(&article.slug, None).await?;
    same("the article after ten fans", read, liked(&article, false, 10))?;

    let fan = ctx.register().await?;
    let calls = (0..10).map(|_| ctx.post(&path(&article.slug)).token(&fan.token));
    all_like(&ctx, &article, calls.collect()).await?;
    let read = ctx.article(&article.slug, Some(&fan.token)).await?;
    same("the article after the eleventh", read, liked(&article, true, 11))
}

/// Sends the calls at once; every answer shows the favourite.
async fn all_like(ctx: &Ctx, article: &Article, calls: Vec<Call>) -> Result<(), Failure> {
    for answer in ctx.simultaneously(calls).await? {
        let after = answer.status(200)?.article()?;
        let count = after.favorites_count;
        answer
            .same("the favourite", after, liked(article, true, count))?
            .holds("favoritesCount counts at least the caller", count >= 1)?;
    }
    Ok(())
}
