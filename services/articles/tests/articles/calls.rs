//! What each read asks of which peer: the call plan.

use conduit_app::reads::ArticleReads;
use conduit_domain::{ArticleFilter, Page, Viewer};

use crate::world::{ALL, ANN, BEN, CLEO, Port, World, filter};

/// Whatever was asked at the same time comes in any order.
fn assert_asked(port: &Port, expected: &[&str]) {
    let mut asked = port.world.asked();
    asked.sort();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn of_one_article() {
    let (port, _) = Port::with_articles(World::default()).await;
    let plan: [(Viewer, &[&str]); 6] = [
        (Viewer::Anonymous, &["users 1000002"]),
        (
            Viewer::SignedIn(ANN),
            &["users 1000002", "follows 1000001: 1000002"],
        ),
        (Viewer::SignedIn(BEN), &["users 1000002"]),
        (
            Viewer::Acting(ANN),
            &["users 1000001 1000002", "follows 1000001: 1000002"],
        ),
        (Viewer::Acting(BEN), &["users 1000002"]),
        (
            Viewer::Acting(CLEO),
            &["users 1000002 1000003", "follows 1000003: 1000002"],
        ),
    ];
    for (viewer, expected) in plan {
        port.reads.by_slug(viewer, "cake").await.unwrap().unwrap();
        assert_asked(&port, expected);
        assert_eq!(port.reads.by_slug(viewer, "unknown").await.unwrap(), None);
        assert_asked(&port, &[]);
    }
    port.reads.author(ANN).await.unwrap();
    assert_asked(&port, &["users 1000001"]);
}

#[tokio::test]
async fn of_a_list() {
    let (port, _) = Port::with_articles(World::default()).await;
    let (nobody, ann) = (Viewer::Anonymous, Viewer::SignedIn(ANN));
    let plan: [(Viewer, ArticleFilter, &[&str]); 13] = [
        (
            nobody,
            filter(None, None, None),
            &["users 1000001 1000002 1000003"],
        ),
        (
            ann,
            filter(None, None, None),
            &[
                "users 1000001 1000002 1000003",
                "follows 1000001: 1000002 1000003",
            ],
        ),
        (nobody, filter(Some("pets"), None, None), &["users 1000003"]),
        (
            ann,
            filter(Some("pets"), None, None),
            &["users 1000003", "follows 1000001: 1000003"],
        ),
        // The author has been found by name already, and so may have been the fan.
        (nobody, filter(None, Some("Ben"), None), &["users ben"]),
        (
            ann,
            filter(None, Some("Ben"), None),
            &["users ben", "follows 1000001: 1000002"],
        ),
        (ann, filter(None, Some("Ann"), None), &["users ann"]),
        (
            nobody,
            filter(None, None, Some("Ann")),
            &["users ann", "users 1000002"],
        ),
        (
            ann,
            filter(None, None, Some("Ann")),
            &["users ann", "users 1000002", "follows 1000001: 1000002"],
        ),
        (
            nobody,
            filter(Some("food"), Some("ben"), Some("ann")),
            &["users ben ann"],
        ),
        (nobody, filter(None, Some("ann"), Some("ann")), &["users ann"]),
        // Nothing matches, or nobody has the name.
        (ann, filter(Some("unknown"), None, None), &[]),
        (ann, filter(None, Some("dan"), Some("ann")), &["users dan ann"]),
    ];
    for (viewer, filter, expected) in plan {
        port.reads.list(viewer, &filter, ALL).await.unwrap();
        assert_asked(&port, expected);
    }
    let beyond = Page { limit: 20, offset: 3 };
    port.reads
        .list(ann, &filter(None, None, None), beyond)
        .await
        .unwrap();
    assert_asked(&port, &[]);
}

#[tokio::test]
async fn of_a_feed() {
    let (port, _) = Port::with_articles(World::default()).await;
    // The caller is asked for along with the authors.
    let first = "followed by 1000001";
    port.reads.feed(ANN, ALL).await.unwrap();
    assert_asked(&port, &[first, "users 1000001 1000002 1000003"]);
    port.reads.feed(ANN, Page { limit: 1, offset: 0 }).await.unwrap();
    assert_asked(&port, &[first, "users 1000001 1000003"]);
    port.reads.feed(ANN, Page { limit: 1, offset: 2 }).await.unwrap();
    assert_asked(&port, &[first, "users 1000001"]);
    port.reads.feed(CLEO, ALL).await.unwrap();
    assert_asked(&port, &["followed by 1000003", "users 1000003"]);
}

#[tokio::test]
async fn of_many_authors_no_more_than_of_one() {
    let port = Port::over(World::default()).await;
    for n in 0..30 {
        port.publish([ANN, BEN, CLEO][n % 3], &format!("Bread {n}"), "food", 1)
            .await;
    }
    port.reads
        .list(Viewer::SignedIn(BEN), &filter(None, None, None), ALL)
        .await
        .unwrap();
    assert_asked(
        &port,
        &[
            "users 1000001 1000002 1000003",
            "follows 1000002: 1000001 1000003",
        ],
    );
}
