use std::time::Duration;

use conduit_app::reads::CommentReads;
use conduit_domain::{CommentTarget, Error, Page, Viewer};
use tokio::sync::Barrier;
use tokio::time::timeout;

use crate::world::{ANN, BEN, BREAD, CAKE, CLEO, NOBODY, Port, World};

const ALL: Page = Page {
    limit: 1000,
    offset: 0,
};

#[tokio::test]
async fn comments_come_newest_first_and_nobody_asks_whom_an_anonymous_viewer_follows() {
    let port = Port::over(World::default()).await;
    let second = port.comment(BREAD, BEN, 5, false).await;
    let first = port.comment(BREAD, ANN, 5, false).await;
    let last = port.comment(BREAD, ANN, 1, false).await;
    port.comment(CAKE, CLEO, 3, false).await;
    let seen = port.reads.list(Viewer::Anonymous, "bread", ALL).await.unwrap();
    assert_eq!(seen, Some(vec![first, second, last]));
    assert_eq!(port.world.asked(), ["articles bread", "users 1000001 1000002"]);
}

#[tokio::test]
async fn a_viewers_flags_are_asked_for_in_one_call_and_not_about_oneself() {
    let port = Port::over(World::default()).await;
    let of_cleo = port.comment(BREAD, CLEO, 1, false).await;
    let of_ben = port.comment(BREAD, BEN, 2, true).await;
    let of_ann = port.comment(BREAD, ANN, 3, false).await;
    let seen = port
        .reads
        .list(Viewer::SignedIn(ANN), "bread", ALL)
        .await
        .unwrap();
    assert_eq!(seen, Some(vec![of_ann, of_ben, of_cleo]));
    assert_eq!(
        port.world.asked(),
        [
            "articles bread",
            "follows 1000001: 1000002 1000003",
            "users 1000001 1000002 1000003",
        ]
    );
}

#[tokio::test]
async fn a_viewer_who_is_gone_follows_nobody() {
    let port = Port::over(World::default()).await;
    let of_ben = port.comment(BREAD, BEN, 2, false).await;
    let seen = port
        .reads
        .list(Viewer::SignedIn(NOBODY), "bread", ALL)
        .await
        .unwrap();
    assert_eq!(seen, Some(vec![of_ben]));
}

#[tokio::test]
async fn who_acts_must_exist() {
    let port = Port::over(World::default()).await;
    port.comment(BREAD, BEN, 2, false).await;
    let outcome = port.reads.list(Viewer::Acting(NOBODY), "bread", ALL).await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
}

#[tokio::test]
async fn what_need_not_be_asked_is_not() {
    let port = Port::over(World::default()).await;
    let viewer = Viewer::SignedIn(ANN);
    assert_eq!(port.reads.list(viewer, "unknown", ALL).await.unwrap(), None);
    assert_eq!(port.world.asked(), ["articles unknown"]);

    assert_eq!(
        port.reads.list(viewer, "bread", ALL).await.unwrap(),
        Some(Vec::new())
    );
    assert_eq!(port.world.asked(), ["articles bread"]);

    let own = port.comment(BREAD, ANN, 1, false).await;
    assert_eq!(
        port.reads.list(viewer, "bread", ALL).await.unwrap(),
        Some(vec![own])
    );
    assert_eq!(port.world.asked(), ["articles bread", "users 1000001"]);
}

#[tokio::test]
async fn comments_come_in_pages() {
    let port = Port::over(World::default()).await;
    let mut expected = Vec::new();
    for millis in (1..=5).rev() {
        expected.push(port.comment(BREAD, BEN, millis, false).await);
    }
    for (limit, offset) in [(2, 0), (2, 4), (1000, 1), (5, 5)] {
        let page = Page { limit, offset };
        let seen = port.reads.list(Viewer::Anonymous, "bread", page).await.unwrap();
        let skipped = expected.iter().skip(usize::try_from(offset).unwrap());
        let shown: Vec<_> = skipped.take(usize::try_from(limit).unwrap()).cloned().collect();
        assert_eq!(seen, Some(shown), "{limit} {offset}");
    }
}

#[tokio::test]
async fn a_comment_of_an_account_that_is_gone_is_left_out() {
    let port = Port::over(World::default()).await;
    let kept = port.comment(BREAD, BEN, 2, false).await;
    port.write(BREAD, NOBODY, 1).await;
    let seen = port.reads.list(Viewer::Anonymous, "bread", ALL).await.unwrap();
    assert_eq!(seen, Some(vec![kept]));
}

#[tokio::test]
async fn users_and_profiles_are_asked_at_the_same_time() {
    let world = World {
        meeting: Some(Barrier::new(2)),
        ..World::default()
    };
    let port = Port::over(world).await;
    let of_ben = port.comment(BREAD, BEN, 2, true).await;
    // One after the other, the first would wait for ever.
    let list = port.reads.list(Viewer::SignedIn(ANN), "bread", ALL);
    let seen = timeout(Duration::from_secs(60), list)
        .await
        .expect("one waits for the other");
    assert_eq!(seen.unwrap(), Some(vec![of_ben]));
}

#[tokio::test]
async fn a_comment_is_aimed_at_an_article_by_somebody_who_may_be_gone() {
    let port = Port::over(World::default()).await;
    let (article, reads) = (BREAD, &port.reads);
    let author = Some(port.world.profile(ANN, false));
    assert_eq!(
        reads.target(ANN, "bread").await.unwrap(),
        Some(CommentTarget { article, author })
    );
    assert_eq!(port.world.asked(), ["articles bread", "users 1000001"]);
    let author = None;
    assert_eq!(
        reads.target(NOBODY, "bread").await.unwrap(),
        Some(CommentTarget { article, author })
    );
    assert_eq!(reads.target(NOBODY, "unknown").await.unwrap(), None);
    port.world.asked();
    assert_eq!(reads.article_id("cake").await.unwrap(), Some(CAKE));
    assert_eq!(reads.article_id("unknown").await.unwrap(), None);
    assert_eq!(port.world.asked(), ["articles cake", "articles unknown"]);
}

#[tokio::test]
async fn only_what_needs_a_peer_fails_with_it() {
    for (peer, viewer, works) in [
        ("articles", Viewer::Anonymous, false),
        ("users", Viewer::Anonymous, false),
        ("profiles", Viewer::Anonymous, true),
        ("profiles", Viewer::SignedIn(ANN), false),
    ] {
        let world = World {
            down: [peer].into(),
            ..World::default()
        };
        let port = Port::over(world).await;
        port.comment(BREAD, BEN, 2, false).await;
        let outcome = port.reads.list(viewer, "bread", ALL).await;
        match outcome {
            Ok(_) => assert!(works, "{peer} {viewer:?}"),
            Err(Error::Unavailable(_)) => assert!(!works, "{peer} {viewer:?}"),
            Err(error) => panic!("{peer} {viewer:?}: {error:?}"),
        }
    }
}
