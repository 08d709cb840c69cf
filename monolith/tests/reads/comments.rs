use conduit_app::reads::CommentReads;
use conduit_domain::{ArticleId, Comment, CommentTarget, NewComment, Page, Timestamp, Viewer};
use conduit_store::comments::CommentStore;

use crate::world::{Dice, NOBODY, World};

const ALL: Page = Page {
    limit: 1000,
    offset: 0,
};

/// Comments by everybody at few different times, newest first, as nobody in particular sees them.
async fn comment(world: &World, article: ArticleId, count: usize) -> Vec<Comment> {
    let store = CommentStore::new(world.database.db("monolith"));
    let mut dice = Dice(3);
    let mut comments = Vec::new();
    for n in 0..count {
        let author = &world.accounts[dice.below(10)];
        let created_at = Timestamp::from_millis(1_767_323_045_000 + i64::try_from(dice.below(4)).unwrap());
        let body = format!("Comment {n}");
        let id = store
            .insert(article, author.id, &NewComment { body: body.clone() }, created_at)
            .await
            .unwrap();
        comments.push(Comment {
            id,
            created_at,
            body,
            author: author.clone(),
        });
    }
    comments.sort_by_key(|comment| (comment.created_at, comment.id));
    comments.reverse();
    comments
}

#[tokio::test]
async fn comments_come_newest_first_with_the_viewers_flags() {
    let world = World::random(12, 3).await;
    let articles: Vec<_> = world
        .records()
        .map(|record| (record.id, record.slug.clone()))
        .collect();
    let comments = comment(&world, articles[1].0, 30).await;
    comment(&world, articles[0].0, 2).await;
    for account in &world.accounts {
        let viewer = Viewer::SignedIn(account.id);
        let seen = world
            .reads
            .list(viewer, &articles[1].1, ALL)
            .await
            .unwrap()
            .unwrap();
        let expected: Vec<_> = comments
            .iter()
            .map(|comment| Comment {
                author: world.profile(Some(account.id), comment.author.id),
                ..comment.clone()
            })
            .collect();
        assert_eq!(seen, expected);
    }
    for viewer in [Viewer::Anonymous, Viewer::SignedIn(NOBODY)] {
        assert_eq!(
            world.reads.list(viewer, &articles[1].1, ALL).await.unwrap(),
            Some(comments.clone())
        );
    }
}

#[tokio::test]
async fn comments_come_in_pages() {
    let world = World::random(13, 1).await;
    let (article, slug) = world
        .records()
        .map(|record| (record.id, record.slug.clone()))
        .next()
        .unwrap();
    let comments = comment(&world, article, 12).await;
    for (limit, offset) in [(1, 0), (5, 0), (5, 10), (1000, 11), (1000, 12), (1000, i64::MAX)] {
        let seen = world
            .reads
            .list(Viewer::Anonymous, &slug, Page { limit, offset })
            .await
            .unwrap()
            .unwrap();
        let skipped = usize::try_from(offset).unwrap();
        let expected: Vec<_> = comments
            .iter()
            .skip(skipped)
            .take(usize::try_from(limit).unwrap())
            .cloned()
            .collect();
        assert_eq!(seen, expected, "{limit} {offset}");
    }
}

#[tokio::test]
async fn no_comments_is_not_no_article() {
    let world = World::random(14, 1).await;
    let slug = world.records().next().unwrap().slug.clone();
    for viewer in [Viewer::Anonymous, Viewer::SignedIn(world.accounts[0].id)] {
        assert_eq!(
            world.reads.list(viewer, &slug, ALL).await.unwrap(),
            Some(Vec::new())
        );
        assert_eq!(world.reads.list(viewer, "unknown", ALL).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_comment_is_aimed_at_an_article_by_somebody_who_may_be_gone() {
    let world = World::random(15, 2).await;
    let (article, slug) = world
        .records()
        .map(|record| (record.id, record.slug.clone()))
        .last()
        .unwrap();
    for account in &world.accounts {
        let expected = CommentTarget {
            article,
            author: Some(account.clone()),
        };
        assert_eq!(
            world.reads.target(account.id, &slug).await.unwrap(),
            Some(expected)
        );
    }
    let expected = CommentTarget {
        article,
        author: None,
    };
    assert_eq!(world.reads.target(NOBODY, &slug).await.unwrap(), Some(expected));
    assert_eq!(world.reads.target(NOBODY, "unknown").await.unwrap(), None);
    assert_eq!(world.reads.article_id(&slug).await.unwrap(), Some(article));
    assert_eq!(world.reads.article_id("unknown").await.unwrap(), None);
}
