use std::collections::BTreeSet;

use conduit_app::reads::ArticleReads;
use conduit_domain::error::Error;
use conduit_domain::{ArticleFilter, ArticlePage, NameKey, Page, Viewer};

use crate::world::{NOBODY, TAGS, World};

fn pages() -> impl Iterator<Item = Page> {
    [
        (20, 0),
        (1, 0),
        (1, 3),
        (7, 5),
        (100, 1),
        (20, 10_000),
        (100, i64::MAX),
    ]
    .into_iter()
    .map(|(limit, offset)| Page { limit, offset })
}

#[tokio::test]
async fn every_filter_gives_what_the_model_gives() {
    let world = World::random(1, 150).await;
    let mut tags: Vec<_> = TAGS.iter().take(4).map(|&tag| Some(tag.to_owned())).collect();
    tags.extend([None, Some("unknown".to_owned())]);
    let mut names: Vec<_> = [0, 1, 5, 9]
        .into_iter()
        .map(|account| Some(world.key(account)))
        .collect();
    names.extend([None, NameKey::of("unknown")]);
    let viewers = [
        None,
        Some(world.accounts[1].id),
        Some(world.accounts[9].id),
        Some(NOBODY),
    ];
    let mut found = 0;
    for tag in &tags {
        for author in &names {
            for fan in &names {
                let filter = ArticleFilter {
                    tag: tag.clone(),
                    author: author.clone(),
                    favorited: fan.clone(),
                };
                for (n, page) in pages().enumerate() {
                    let viewer = viewers[n % viewers.len()];
                    let list = world
                        .reads
                        .list(Viewer::from(viewer), &filter, page)
                        .await
                        .unwrap();
                    found += list.articles.len();
                    assert_eq!(
                        list,
                        world.list(viewer, &filter, page),
                        "{filter:?} {page:?} {viewer:?}"
                    );
                }
            }
        }
    }
    assert!(found > 1000, "{found}");
}

#[tokio::test]
async fn every_viewer_sees_their_own_flags() {
    let world = World::random(2, 40).await;
    let page = Page {
        limit: 100,
        offset: 0,
    };
    for account in &world.accounts {
        let filter = ArticleFilter::default();
        let list = world
            .reads
            .list(Viewer::SignedIn(account.id), &filter, page)
            .await
            .unwrap();
        assert_eq!(list, world.list(Some(account.id), &filter, page));
    }
}

#[tokio::test]
async fn every_feed_gives_what_the_model_gives() {
    let world = World::random(3, 120).await;
    for account in &world.accounts {
        for page in pages() {
            let feed = world.reads.feed(account.id, page).await.unwrap();
            assert_eq!(feed, world.feed(account.id, page), "{account:?} {page:?}");
        }
    }
    let lonely = world
        .reads
        .feed(world.accounts[9].id, Page { limit: 20, offset: 0 })
        .await
        .unwrap();
    assert_eq!(lonely, ArticlePage::default());
}

#[tokio::test]
async fn the_feed_of_nobody_is_refused() {
    let world = World::random(4, 1).await;
    for offset in [0, 5, i64::MAX] {
        let feed = world.reads.feed(NOBODY, Page { limit: 20, offset }).await;
        assert!(matches!(feed, Err(Error::CallerGone)), "{feed:?}");
    }
}

/// Every article of a list by pages of one, and the total that all of them must show.
async fn walk(read: impl AsyncFn(Page) -> ArticlePage) -> Vec<i64> {
    let mut ids = Vec::new();
    loop {
        let page = read(Page {
            limit: 1,
            offset: i64::try_from(ids.len()).unwrap(),
        })
        .await;
        let Some(article) = page.articles.first() else {
            assert_eq!(page.total, i64::try_from(ids.len()).unwrap());
            return ids;
        };
        ids.push(article.id.0);
    }
}

#[tokio::test]
async fn pages_of_one_show_each_article_once_though_most_share_their_time() {
    let world = World::random(5, 60).await;
    let list = walk(async |page| {
        world
            .reads
            .list(Viewer::Anonymous, &ArticleFilter::default(), page)
            .await
            .unwrap()
    });
    let list = list.await;
    assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), 60);
    for account in &world.accounts {
        let feed = walk(async |page| world.reads.feed(account.id, page).await.unwrap()).await;
        let rest: Vec<_> = list.iter().filter(|id| feed.contains(id)).copied().collect();
        assert_eq!(feed, rest, "a feed is in the order of the list");
    }
}

#[tokio::test]
async fn names_are_found_in_any_letter_case_and_only_while_they_last() {
    let world = World::random(6, 30).await;
    let page = Page {
        limit: 100,
        offset: 0,
    };
    let by = |name: &str| ArticleFilter {
        author: NameKey::of(name),
        ..ArticleFilter::default()
    };
    let expected = world.list(None, &by("Ünï 0"), page);
    assert!(expected.total > 5);
    assert_eq!(
        world
            .reads
            .list(Viewer::Anonymous, &by("üNÏ 0"), page)
            .await
            .unwrap(),
        expected
    );
    let rename = "update users.accounts set username = 'Eve', username_key = 'eve' where username = 'Ünï 0'";
    sqlx::query(rename)
        .execute(&mut world.database.admin().await)
        .await
        .unwrap();
    assert_eq!(
        world
            .reads
            .list(Viewer::Anonymous, &by("Ünï 0"), page)
            .await
            .unwrap(),
        ArticlePage::default()
    );
    let renamed = world
        .reads
        .list(Viewer::Anonymous, &by("EVE"), page)
        .await
        .unwrap();
    assert_eq!(renamed.total, expected.total);
    assert!(
        renamed
            .articles
            .iter()
            .all(|article| article.author.username == "Eve")
    );
}
