//! What a request costs must not grow with what it does not return (performance page, "Growth"). Counted are the pages of tables
//! and indexes that the server's own statistics show for one call of a port, the statements already prepared.

use std::collections::BTreeMap;

use conduit_app::reads::{ArticleReads, CommentReads, ProfileReads};
use conduit_domain::{AccountId, ArticleFilter, NameKey, Page, Viewer};
use conduit_store::db::{Db, DbSettings};
use conduit_testkit::{Bulk, BulkArticle, TestDatabase};
use monolith::reads::Joined;
use sqlx::Executor;

const SMALL: usize = 2_400;
const LARGE: usize = 24_000;

/// The vacuum below marks as visible to all only what nobody else looks at; all else makes scans of an index read the table too.
const ALONE: &str = "
    do $$
    declare
      filled text;
    begin
      for filled in
        select format('%I.%I', schemaname, tablename)
        from pg_tables
        where schemaname in ('users', 'profiles', 'articles', 'comments')
      loop
        execute format('alter table %s set (autovacuum_enabled = false)', filled);
      end loop;
    end
    $$";

/// Account 0 writes 40 articles, account 1 has 50 favorites, account 2 has every second article as a favorite and follows 10
/// accounts, whatever the size; all others grow with it. Tag `few` is on 60 articles, tag `many` on every fourth.
fn site(size: usize) -> Bulk {
    let accounts = size / 5;
    let article = |n: usize| {
        let tags = [(n.is_multiple_of(size / 60), "few"), (n % 4 == 1, "many")];
        let tags = tags.into_iter().filter_map(|(has, tag)| has.then_some(tag));
        let mut tags: Vec<_> = tags.chain(["all"]).collect();
        tags.sort_unstable();
        BulkArticle {
            author: if n.is_multiple_of(size / 40) {
                0
            } else {
                3 + n % (accounts - 4)
            },
            title: format!("Article {n}"),
            tags,
        }
    };
    let fans = |n: usize| {
        let heavy = [(n.is_multiple_of(size / 50), 1), (n.is_multiple_of(2), 2)];
        let heavy = heavy.into_iter().filter_map(|(is, fan)| is.then_some(fan));
        heavy.chain(3 + n % 50..6 + n % 50).map(move |fan| (fan, n))
    };
    Bulk {
        accounts: (0..accounts).map(|n| format!("User{n}")).collect(),
        follows: (3..13)
            .map(|n| (2, n))
            .chain((20..accounts).map(|n| (n, n - 1)))
            .collect(),
        articles: (0..size).map(article).collect(),
        favorites: (0..size).flat_map(fans).collect(),
        comments: (0..size)
            .flat_map(|n| (1..4).map(move |m| (3 + (n + m) % 100, n)))
            .collect(),
    }
}

const PAGES: &str = "
    select (
      (select sum(heap_blks_read + heap_blks_hit + coalesce(toast_blks_read + toast_blks_hit, 0))
       from pg_statio_user_tables)
      + (select sum(idx_blks_read + idx_blks_hit) from pg_statio_user_indexes)
    )::bigint";

struct Scene {
    database: TestDatabase,
    db: Db,
    reads: Joined,
    heavy: AccountId,
}

impl Scene {
    async fn of(size: usize) -> Self {
        let database = TestDatabase::new().await;
        let mut admin = database.admin().await;
        admin.execute(ALONE).await.unwrap();
        let heavy = database.fill(&site(size)).await.accounts[2];
        admin.execute("vacuum analyze").await.unwrap();
        // One connection, whose statistics are all there are.
        let db = Db::new(DbSettings {
            connections: 1,
            ..database.settings("monolith")
        });
        let reads = Joined::new(db.clone());
        Self {
            database,
            db,
            reads,
            heavy,
        }
    }

    async fn pages_so_far(&self) -> i64 {
        let flush = "select true from pg_stat_force_next_flush()";
        self.db.one(|| sqlx::query(flush).map(|_| ())).await.unwrap();
        sqlx::query_scalar(PAGES)
            .fetch_one(&mut self.database.admin().await)
            .await
            .unwrap()
    }

    /// The pages that the second call reads; the first prepares its statements.
    async fn pages<T>(&self, call: impl AsyncFn() -> T) -> i64 {
        call().await;
        let before = self.pages_so_far().await;
        call().await;
        self.pages_so_far().await - before
    }

    async fn list(&self, filter: &ArticleFilter, viewer: Viewer, offset: i64) -> i64 {
        let page = Page { limit: 20, offset };
        self.pages(async || {
            let page = ArticleReads::list(&self.reads, viewer, filter, page)
                .await
                .unwrap();
            assert!(!page.articles.is_empty());
        })
        .await
    }

    async fn all(&self) -> BTreeMap<String, i64> {
        let heavy = Viewer::SignedIn(self.heavy);
        let mut pages = BTreeMap::new();
        for (name, filter) in filters() {
            pages.insert(
                format!("{name}, anonymous"),
                self.list(&filter, Viewer::Anonymous, 0).await,
            );
            pages.insert(
                format!("{name}, heavy viewer"),
                self.list(&filter, heavy, 0).await,
            );
        }
        pages.insert(
            "the newest, offset 1000".to_owned(),
            self.list(&ArticleFilter::default(), heavy, 1000).await,
        );
        let page = Page { limit: 20, offset: 0 };
        let feed = self.pages(async || {
            assert_eq!(
                self.reads.feed(self.heavy, page).await.unwrap().articles.len(),
                20
            );
        });
        pages.insert("feed".to_owned(), feed.await);
        let article =
            self.pages(async || assert!(self.reads.by_slug(heavy, "article-7").await.unwrap().is_some()));
        pages.insert("article".to_owned(), article.await);
        let profile = NameKey::of("user5").unwrap();
        let profile =
            self.pages(async || assert!(self.reads.by_username(heavy, &profile).await.unwrap().is_some()));
        pages.insert("profile".to_owned(), profile.await);
        let comments = self.pages(async || {
            let page = Page {
                limit: 1000,
                offset: 0,
            };
            let comments = CommentReads::list(&self.reads, heavy, "article-7", page)
                .await
                .unwrap();
            assert_eq!(comments.unwrap().len(), 3);
        });
        pages.insert("comments".to_owned(), comments.await);
        pages
    }
}

fn filters() -> Vec<(&'static str, ArticleFilter)> {
    let none = ArticleFilter::default;
    let tag = |tag: &str| Some(tag.to_owned());
    vec![
        ("the newest", none()),
        (
            "by tag",
            ArticleFilter {
                tag: tag("many"),
                ..none()
            },
        ),
        (
            "by author",
            ArticleFilter {
                author: NameKey::of("user0"),
                ..none()
            },
        ),
        (
            "by fan",
            ArticleFilter {
                favorited: NameKey::of("user1"),
                ..none()
            },
        ),
        (
            "by tag and author",
            ArticleFilter {
                tag: tag("all"),
                author: NameKey::of("user0"),
                ..none()
            },
        ),
        (
            "by author and fan",
            ArticleFilter {
                author: NameKey::of("user0"),
                favorited: NameKey::of("user2"),
                ..none()
            },
        ),
        (
            "by tag and fan",
            ArticleFilter {
                tag: tag("all"),
                favorited: NameKey::of("user1"),
                ..none()
            },
        ),
        (
            "by rare tag and heavy fan",
            ArticleFilter {
                tag: tag("few"),
                favorited: NameKey::of("user2"),
                ..none()
            },
        ),
    ]
}

#[tokio::test]
async fn a_request_reads_as_many_pages_of_a_large_site_as_of_a_small_one() {
    let (small, large) = (
        Scene::of(SMALL).await.all().await,
        Scene::of(LARGE).await.all().await,
    );
    for (request, small) in &small {
        let large = large[request];
        println!("{request}: {small} pages of {SMALL} articles, {large} of {LARGE}");
    }
    for (request, small) in &small {
        // Each look-up may pass one more level of an index; a part that grew in proportion would grow tenfold.
        let large = large[request];
        assert!(
            (5..small + small / 2).contains(&large),
            "{request}: {small} pages grow to {large}"
        );
    }
}
