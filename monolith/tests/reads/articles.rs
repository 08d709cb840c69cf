use conduit_app::reads::ArticleReads;
use conduit_domain::error::Error;
use conduit_domain::{Article, Viewer};

use crate::world::{NOBODY, World};

#[tokio::test]
async fn an_article_is_shown_to_each_viewer_with_their_flags() {
    let world = World::random(7, 40).await;
    let viewers: Vec<_> = world
        .accounts
        .iter()
        .flat_map(|account| [Viewer::SignedIn(account.id), Viewer::Acting(account.id)])
        .chain([Viewer::Anonymous, Viewer::SignedIn(NOBODY)])
        .collect();
    for record in world.records() {
        for &viewer in &viewers {
            let summary = world.summary_of(viewer.id(), &record.slug);
            let expected = Article {
                summary,
                body: record.body.clone(),
            };
            assert_eq!(
                world.reads.by_slug(viewer, &record.slug).await.unwrap(),
                Some(expected)
            );
        }
    }
}

#[tokio::test]
async fn who_acts_must_exist_once_the_article_does() {
    let world = World::random(8, 1).await;
    let slug = world.records().next().unwrap().slug.clone();
    let outcome = world.reads.by_slug(Viewer::Acting(NOBODY), &slug).await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
    for viewer in [
        Viewer::Anonymous,
        Viewer::Acting(NOBODY),
        Viewer::Acting(world.accounts[0].id),
    ] {
        assert_eq!(world.reads.by_slug(viewer, "unknown").await.unwrap(), None);
    }
}

#[tokio::test]
async fn an_author_sees_themself_as_followed_by_nobody() {
    let world = World::random(9, 0).await;
    for account in &world.accounts {
        assert_eq!(world.reads.author(account.id).await.unwrap(), *account);
    }
    let outcome = world.reads.author(NOBODY).await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
}
