//! Renaming: whatever an account owns hangs on the account, not on its name (split-001 to split-009).

use super::{appears, followed, writer};
use crate::checks::art::stranger;
use crate::checks::list::{entry, finds, finds_nothing};
use crate::checks::{Account, Check, Ctx, Failure, Outcome, profile_path, same};
use crate::shape::{Article, Comment, Profile};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "split-001",
            "write; rename; GET article, list, feed of a follower",
            articles_show_the_new_name,
        ),
        Check::new(
            "split-002",
            "comment on another's article; rename; GET comments",
            comments_show_the_new_name,
        ),
        Check::new(
            "split-003",
            "rename; GET profile by old and new name",
            the_old_name_is_unknown,
        ),
        Check::new(
            "split-004",
            "write; rename; ?author= old and new",
            lists_go_by_the_new_name,
        ),
        Check::new(
            "split-005",
            "favourite; rename; ?favorited= old and new; GET",
            favourites_go_by_the_new_name,
        ),
        Check::new(
            "split-006",
            "F follows A; A renames; F's profile view and feed",
            followers_stay,
        ),
        Check::new(
            "split-007",
            "F follows A; F renames; F's old token everywhere",
            a_token_outlives_the_name,
        ),
        Check::new(
            "split-008",
            "A owns everything and renames; X takes the old name",
            a_name_passes_on_nothing,
        ),
        Check::new(
            "split-009",
            "A and B swap names; GET as a follower of A",
            swapped_names_swap_nothing_else,
        ),
    ]
}

async fn articles_show_the_new_name(ctx: Ctx) -> Outcome {
    let (mut ann, fan) = (ctx.register().await?, ctx.register().await?);
    let tag = ctx.x();
    let slug = ctx.publish(&ann, &[&tag]).await?.slug;
    ctx.follow(&fan.token, &ann.username).await?;
    ctx.rename(&mut ann, &ctx.x()).await?;

    let article = ctx.article(&slug, None).await?;
    same("the author of the article", article.author, stranger(&ann))?;
    let list = ctx.list(&format!("tag={tag}"), None).await?;
    let listed = list.find(&slug).map(|entry| &entry.author);
    same("the author in the list", listed, Some(&stranger(&ann)))?;
    let feed = ctx.feed(&fan.token, "").await?;
    let fed = feed.find(&slug).map(|entry| &entry.author);
    same("the author in the feed", fed, Some(&followed(stranger(&ann))))
}

async fn comments_show_the_new_name(ctx: Ctx) -> Outcome {
    let (mut ann, ben) = (ctx.register().await?, ctx.register().await?);
    let slug = ctx.publish(&ben, &[]).await?.slug;
    let comment = ctx.comment(&ann.token, &slug, &ctx.x()).await?;
    ctx.rename(&mut ann, &ctx.x()).await?;
    let expected = Comment {
        author: stranger(&ann),
        ..comment
    };
    same("the comments", ctx.comments(&slug, None).await?, vec![expected])
}

async fn the_old_name_is_unknown(ctx: Ctx) -> Outcome {
    let mut ann = ctx.register().await?;
    let old = ann.username.clone();
    // Asked for before, too: whoever remembers names has to forget them.
    let profile = ctx.profile(&old, None).await?;
    same("the profile before", profile, stranger(&ann))?;
    ctx.rename(&mut ann, &ctx.x()).await?;
    ctx.get(&profile_path(&old))
        .refused(404, "profile", "not found")
        .await?;
    let profile = ctx.profile(&ann.username, None).await?;
    same("the profile", profile, stranger(&ann))
}

async fn lists_go_by_the_new_name(ctx: Ctx) -> Outcome {
    let mut ann = ctx.register().await?;
    let old = ann.username.clone();
    let articles = [ctx.publish(&ann, &[]).await?, ctx.publish(&ann, &[]).await?];
    let before = ctx.list(&format!("author={old}"), None).await?;
    same("articlesCount before", before.count, 2)?;
    ctx.rename(&mut ann, &ctx.x()).await?;
    finds_nothing(&ctx, &format!("author={old}")).await?;
    let [earlier, later] = articles.map(|article| Article {
        author: stranger(&ann),
        ..entry(&article)
    });
    finds(&ctx, &format!("author={}", ann.username), &[later, earlier], 2).await
}

async fn favourites_go_by_the_new_name(ctx: Ctx) -> Outcome {
    let (mut ann, ben) = (ctx.register().await?, ctx.register().await?);
    let article = ctx.publish(&ben, &[]).await?;
    ctx.favorite(&ann.token, &article.slug).await?;
    let old = ann.username.clone();
    let before = ctx.list(&format!("favorited={old}"), None).await?;
    same("articlesCount before", before.count, 1)?;
    ctx.rename(&mut ann, &ctx.x()).await?;
    finds_nothing(&ctx, &format!("favorited={old}")).await?;
    let expected = Article {
        favorites_count: 1,
        ..article.clone()
    };
    finds(
        &ctx,
        &format!("favorited={}", ann.username),
        &[entry(&expected)],
        1,
    )
    .await?;
    let read = ctx.article(&article.slug, Some(&ann.token)).await?;
    same("favorited", read.favorited, true)?;
    same("favoritesCount", read.favorites_count, 1)
}

async fn followers_stay(ctx: Ctx) -> Outcome {
    let (mut ann, fan) = (ctx.register().await?, ctx.register().await?);
    ctx.publish(&ann, &[]).await?;
    ctx.publish(&ann, &[]).await?;
    ctx.follow(&fan.token, &ann.username).await?;
    let mut expected = ctx.feed(&fan.token, "").await?;
    same("articlesCount of the feed", expected.count, 2)?;
    ctx.rename(&mut ann, &ctx.x()).await?;
    let profile = ctx.profile(&ann.username, Some(&fan.token)).await?;
    same("the profile", profile, followed(stranger(&ann)))?;
    for article in &mut expected.articles {
        article.author.username.clone_from(&ann.username);
    }
    same("the feed", ctx.feed(&fan.token, "").await?, expected)
}

async fn a_token_outlives_the_name(ctx: Ctx) -> Outcome {
    let (ann, mut fan) = (ctx.register().await?, ctx.register().await?);
    let slug = ctx.publish(&ann, &[]).await?.slug;
    ctx.follow(&fan.token, &ann.username).await?;
    let before = ctx.feed(&fan.token, "").await?;
    same("the feed", before.slugs(), vec![slug.as_str()])?;
    ctx.rename(&mut fan, &ctx.x()).await?;

    same("the feed afterwards", ctx.feed(&fan.token, "").await?, before)?;
    let profile = ctx.profile(&ann.username, Some(&fan.token)).await?;
    same("the profile followed", profile, followed(stranger(&ann)))?;
    let own = ctx.publish(&fan, &[]).await?;
    same("the author of the article", own.author, stranger(&fan))?;
    let comment = ctx.comment(&fan.token, &slug, &ctx.x()).await?;
    same("the author of the comment", comment.author, stranger(&fan))?;
    let favourite = ctx.favorite(&fan.token, &slug).await?;
    same("favorited", favourite.favorited, true)
}

async fn a_name_passes_on_nothing(ctx: Ctx) -> Outcome {
    let (mut ann, slug) = writer(&ctx).await?;
    let fan = ctx.register().await?;
    ctx.favorite(&ann.token, &slug).await?;
    ctx.follow(&fan.token, &ann.username).await?;
    appears(&ctx, &ann, &slug, Some(&fan), &followed(stranger(&ann))).await?;
    let old = ann.username.clone();
    ctx.rename(&mut ann, &ctx.x()).await?;
    let heir = ctx.register_as(&old).await?;

    let profile = ctx.profile(&old, Some(&fan.token)).await?;
    same("the heir's profile", profile, stranger(&heir))?;
    finds_nothing(&ctx, &format!("author={old}")).await?;
    finds_nothing(&ctx, &format!("favorited={old}")).await?;
    let own = ctx.publish(&heir, &[]).await?;
    finds(&ctx, &format!("author={old}"), &[entry(&own)], 1).await?;
    let feed = ctx.feed(&fan.token, "").await?;
    same("the feed of the follower", feed.slugs(), vec![slug.as_str()])?;
    appears(&ctx, &ann, &slug, Some(&fan), &followed(stranger(&ann))).await
}

/// What two accounts own: an article each, and a comment each on both articles.
struct Belongings {
    articles: [String; 2],
    /// Article by article: id and whose, newest first.
    comments: Vec<Vec<(u64, usize)>>,
}

async fn swapped_names_swap_nothing_else(ctx: Ctx) -> Outcome {
    let (mut ann, mut ben, fan) = (
        ctx.register().await?,
        ctx.register().await?,
        ctx.register().await?,
    );
    ctx.follow(&fan.token, &ann.username).await?;
    let owned = belongings(&ctx, &ann, &ben).await?;
    let before = [ann.username.clone(), ben.username.clone()];
    let [first, second] = &before;
    ctx.rename(&mut ann, &ctx.x()).await?;
    ctx.rename(&mut ben, first).await?;
    ctx.rename(&mut ann, second).await?;
    same("the names", [&ben.username, &ann.username], [first, second])?;
    belong(&ctx, &owned, [&ann, &ben], &fan).await
}

async fn belongings(ctx: &Ctx, ann: &Account, ben: &Account) -> Result<Belongings, Failure> {
    let articles = [
        ctx.publish(ann, &[]).await?.slug,
        ctx.publish(ben, &[]).await?.slug,
    ];
    let mut comments = Vec::new();
    for slug in &articles {
        let first = ctx.comment(&ann.token, slug, &ctx.x()).await?.id;
        let second = ctx.comment(&ben.token, slug, &ctx.x()).await?.id;
        comments.push(vec![(second, 1), (first, 0)]);
    }
    Ok(Belongings { articles, comments })
}

/// Everything belongs to these accounts, of whom the viewer follows the first alone.
async fn belong(ctx: &Ctx, owned: &Belongings, accounts: [&Account; 2], viewer: &Account) -> Outcome {
    let [ann, ben] = accounts.map(stranger);
    let shown: [Profile; 2] = [followed(ann), ben];
    let token = Some(viewer.token.as_str());
    for ((slug, author), comments) in owned.articles.iter().zip(&shown).zip(&owned.comments) {
        let article = ctx.article(slug, token).await?;
        same("the author of the article", &article.author, author)?;
        let list = ctx.list(&format!("author={}", author.username), token).await?;
        same("the author's articles", list.slugs(), vec![slug.as_str()])?;
        let listed = list.find(slug).map(|entry| &entry.author);
        same("the author in the list", listed, Some(author))?;
        let profile = ctx.profile(&author.username, token).await?;
        same("the profile", &profile, author)?;
        let came = ctx.comments(slug, token).await?;
        let came: Vec<_> = came.iter().map(|c| (c.id, Some(&c.author))).collect();
        let expected: Vec<_> = comments
            .iter()
            .map(|(id, whose)| (*id, shown.get(*whose)))
            .collect();
        same("the comments and their authors", came, expected)?;
    }
    let feed = ctx.feed(&viewer.token, "").await?;
    let fed: Vec<_> = feed.articles.iter().map(|a| (&a.slug, &a.author)).collect();
    let expected: Vec<_> = owned.articles.iter().zip(&shown).take(1).collect();
    same("the feed", fed, expected)
}
