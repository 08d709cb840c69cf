use std::time::Duration;

use conduit_app::reads::ArticleReads;
use conduit_domain::{Article, ArticlePage, Error, Page, Viewer};
use tokio::sync::Barrier;
use tokio::time::timeout;

use crate::world::{ALL, ANN, BEN, CLEO, NOBODY, Port, World, filter};

#[tokio::test]
async fn an_article_is_shown_to_each_viewer_with_their_flags() {
    let (port, [bread, cake, dogs]) = Port::with_articles(World::default()).await;
    for (record, viewer, favorited, following) in [
        (&bread, Viewer::Anonymous, false, false),
        (&bread, Viewer::SignedIn(ANN), false, false),
        (&bread, Viewer::SignedIn(BEN), true, false),
        (&cake, Viewer::SignedIn(ANN), true, true),
        (&cake, Viewer::Acting(ANN), true, true),
        (&cake, Viewer::Acting(BEN), false, false),
        (&cake, Viewer::Acting(CLEO), true, false),
        (&dogs, Viewer::SignedIn(BEN), false, true),
        (&dogs, Viewer::SignedIn(NOBODY), false, false),
    ] {
        let expected = Article {
            summary: port.seen(record, favorited, following),
            body: record.body.clone(),
        };
        let seen = port.reads.by_slug(viewer, &record.slug).await.unwrap();
        assert_eq!(seen, Some(expected), "{viewer:?}");
    }
}

#[tokio::test]
async fn who_acts_must_exist_once_the_article_does() {
    let (port, _) = Port::with_articles(World::default()).await;
    let outcome = port.reads.by_slug(Viewer::Acting(NOBODY), "bread").await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
    assert_eq!(
        port.reads
            .by_slug(Viewer::Acting(NOBODY), "unknown")
            .await
            .unwrap(),
        None
    );
    let outcome = port.reads.author(NOBODY).await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
    let outcome = port.reads.feed(NOBODY, ALL).await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
    assert_eq!(
        port.reads.author(ANN).await.unwrap(),
        port.world.profile(ANN, false)
    );
}

#[tokio::test]
async fn a_list_shows_each_viewer_their_flags_newest_first() {
    let (port, [bread, cake, dogs]) = Port::with_articles(World::default()).await;
    // For each viewer: the flags of dogs, cake and bread.
    for (viewer, flags) in [
        (
            Viewer::Anonymous,
            [(false, false), (false, false), (false, false)],
        ),
        (
            Viewer::SignedIn(ANN),
            [(false, true), (true, true), (false, false)],
        ),
        (
            Viewer::SignedIn(BEN),
            [(false, true), (false, false), (true, false)],
        ),
        (
            Viewer::SignedIn(CLEO),
            [(false, false), (true, false), (false, false)],
        ),
        (
            Viewer::SignedIn(NOBODY),
            [(false, false), (false, false), (false, false)],
        ),
    ] {
        let page = port
            .reads
            .list(viewer, &filter(None, None, None), ALL)
            .await
            .unwrap();
        let records = [&dogs, &cake, &bread].into_iter().zip(flags);
        let articles =
            records.map(|(record, (favorited, following))| port.seen(record, favorited, following));
        let expected = ArticlePage {
            articles: articles.collect(),
            total: 3,
        };
        assert_eq!(page, expected, "{viewer:?}");
    }
}

#[tokio::test]
async fn every_filter_selects_by_what_the_names_stand_for() {
    let (port, [bread, cake, dogs]) = Port::with_articles(World::default()).await;
    for (tag, author, fan, expected) in [
        (Some("food"), None, None, vec![&cake, &bread]),
        (None, Some("BEN"), None, vec![&cake]),
        (None, Some("zOË c"), None, vec![&dogs]),
        (None, None, Some("ann"), vec![&cake]),
        (Some("food"), Some("ann"), None, vec![&bread]),
        (Some("pets"), Some("ann"), None, vec![]),
        (Some("food"), None, Some("ben"), vec![&bread]),
        (None, Some("ben"), Some("zoë c"), vec![&cake]),
        (None, Some("ann"), Some("ann"), vec![]),
        (Some("food"), Some("ben"), Some("ann"), vec![&cake]),
        (Some("unknown"), None, None, vec![]),
        (Some("unknown"), Some("ann"), Some("ben"), vec![]),
    ] {
        let filter = filter(tag, author, fan);
        let page = port.reads.list(Viewer::Anonymous, &filter, ALL).await.unwrap();
        assert_eq!(page.total, i64::try_from(expected.len()).unwrap(), "{filter:?}");
        let expected: Vec<_> = expected
            .into_iter()
            .map(|record| port.seen(record, false, false))
            .collect();
        assert_eq!(page.articles, expected, "{filter:?}");
    }
}

#[tokio::test]
async fn a_name_that_nobody_has_matches_nothing() {
    let (port, _) = Port::with_articles(World::default()).await;
    for (author, fan) in [
        (Some("dan"), None),
        (None, Some("dan")),
        (Some("ann"), Some("dan")),
        (Some("dan"), Some("ann")),
    ] {
        let filter = filter(Some("food"), author, fan);
        let page = port
            .reads
            .list(Viewer::SignedIn(ANN), &filter, ALL)
            .await
            .unwrap();
        assert_eq!(page, ArticlePage::default());
    }
}

#[tokio::test]
async fn a_feed_is_of_all_whom_the_caller_follows_and_of_nobody_else() {
    let (port, [_, cake, dogs]) = Port::with_articles(World::default()).await;
    let older = port.publish(CLEO, "Doves", "pets", 2).await;
    // Doves are of Cake's moment and have the higher id.
    let all = [(&dogs, false), (&older, false), (&cake, true)];
    let all = all.map(|(record, favorited)| port.seen(record, favorited, true));
    for (limit, offset) in [(100, 0), (1, 0), (1, 1), (2, 1), (5, 3), (100, i64::MAX)] {
        let page = port.reads.feed(ANN, Page { limit, offset }).await.unwrap();
        let skipped = all.iter().skip(usize::try_from(offset).unwrap());
        let articles = skipped.take(usize::try_from(limit).unwrap()).cloned().collect();
        assert_eq!(page, ArticlePage { articles, total: 3 }, "{limit} {offset}");
    }
    assert_eq!(port.reads.feed(CLEO, ALL).await.unwrap(), ArticlePage::default());
}

#[tokio::test]
async fn a_page_beyond_the_end_has_its_total() {
    let (port, _) = Port::with_articles(World::default()).await;
    let beyond = Page {
        limit: 20,
        offset: 10,
    };
    for (filter, total) in [
        (filter(None, None, None), 3),
        (filter(Some("food"), None, Some("ann")), 1),
    ] {
        let page = port
            .reads
            .list(Viewer::SignedIn(ANN), &filter, beyond)
            .await
            .unwrap();
        assert_eq!(
            page,
            ArticlePage {
                articles: Vec::new(),
                total
            }
        );
    }
}

#[tokio::test]
async fn articles_of_an_account_that_is_gone_are_left_out() {
    let (port, [bread, cake, dogs]) = Port::with_articles(World::default()).await;
    port.publish(NOBODY, "Ghosts", "food", 4).await;
    let page = port
        .reads
        .list(Viewer::Anonymous, &filter(None, None, None), ALL)
        .await
        .unwrap();
    let expected: Vec<_> = [&dogs, &cake, &bread]
        .map(|record| port.seen(record, false, false))
        .into();
    assert_eq!(page.articles, expected);
    for viewer in [
        Viewer::Anonymous,
        Viewer::SignedIn(ANN),
        Viewer::Acting(ANN),
        Viewer::Acting(NOBODY),
    ] {
        assert_eq!(
            port.reads.by_slug(viewer, "ghosts").await.unwrap(),
            None,
            "{viewer:?}"
        );
    }
}

#[tokio::test]
async fn users_and_profiles_are_asked_at_the_same_time() {
    // One after the other, the first would wait for ever.
    let world = || World {
        meeting: Some(Barrier::new(2)),
        ..World::default()
    };
    let patience = Duration::from_secs(60);
    let (port, _) = Port::with_articles(world()).await;
    let article = timeout(patience, port.reads.by_slug(Viewer::SignedIn(ANN), "cake")).await;
    assert!(
        article
            .expect("one waits for the other")
            .unwrap()
            .unwrap()
            .summary
            .author
            .following
    );
    let filter = filter(Some("food"), None, None);
    let list = timeout(patience, port.reads.list(Viewer::SignedIn(ANN), &filter, ALL)).await;
    assert_eq!(list.expect("one waits for the other").unwrap().total, 2);
}

#[tokio::test]
async fn only_what_needs_a_peer_fails_with_it() {
    let (reader, nobody) = (Viewer::SignedIn(ANN), Viewer::Anonymous);
    for (peer, article, list, feed) in [
        ("users", (nobody, false), (nobody, false), false),
        ("profiles", (nobody, true), (nobody, true), false),
        ("profiles", (reader, false), (reader, false), false),
    ] {
        let world = World {
            down: [peer].into(),
            ..World::default()
        };
        let (port, _) = Port::with_articles(world).await;
        let outcomes = [
            (port.reads.by_slug(article.0, "cake").await.map(drop), article.1),
            (
                port.reads
                    .list(list.0, &filter(None, None, None), ALL)
                    .await
                    .map(drop),
                list.1,
            ),
            (port.reads.feed(ANN, ALL).await.map(drop), feed),
        ];
        for (outcome, works) in outcomes {
            match outcome {
                Ok(()) => assert!(works, "{peer}"),
                Err(Error::Unavailable(_)) => assert!(!works, "{peer}"),
                Err(error) => panic!("{peer}: {error:?}"),
            }
        }
    }
}
