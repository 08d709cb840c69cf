use std::collections::BTreeSet;

use conduit_articles::internal::{Local, api};
use conduit_domain::{ArticleId, Timestamp};
use conduit_rpc::{ArticlesApi, CallSettings, DeletionCursor};
use futures_util::future::{join, join_all};

use crate::world::{ANN, BEN, Port, World};

fn slugs(slugs: &[&str]) -> Vec<String> {
    slugs.iter().map(|&slug| slug.to_owned()).collect()
}

#[tokio::test]
async fn slugs_are_answered_with_their_ids_and_unknown_ones_not_at_all() {
    let (port, [bread, cake, _]) = Port::with_articles(World::default()).await;
    let local = Local::new(port.articles.clone());
    for (asked, expected) in [
        (&[][..], vec![]),
        (&["unknown"], vec![]),
        (&["bread"], vec![("bread", bread.id)]),
        (
            &["cake", "unknown", "bread", "cake"],
            vec![("bread", bread.id), ("cake", cake.id)],
        ),
        (&["Bread", ""], vec![]),
    ] {
        let mut found = local.ids_by_slugs(slugs(asked)).await.unwrap();
        found.sort();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(slug, id)| (slug.to_owned(), id))
            .collect();
        assert_eq!(found, expected, "{asked:?}");
    }
}

#[tokio::test]
async fn many_at_once_get_each_their_own_answer_in_batches_or_not() {
    let (port, [bread, cake, dogs]) = Port::with_articles(World::default()).await;
    for batching in [true, false] {
        let calls = CallSettings {
            batching,
            ..CallSettings::new("x".into())
        };
        let api = api(port.articles.clone(), &calls);
        let expected = [
            ("bread", bread.id),
            ("cake", cake.id),
            ("dogs", dogs.id),
            ("unknown", ArticleId(0)),
        ];
        // The first is under way until all have asked.
        let held = port.database.holding("articles.articles").await;
        let asking = join_all((0..40).map(|n| api.ids_by_slugs(slugs(&[expected[n % 4].0]))));
        let (answers, ()) = join(asking, held.let_go()).await;
        for (n, answer) in answers.into_iter().enumerate() {
            let (slug, id) = expected[n % 4];
            let expected = if id == ArticleId(0) {
                vec![]
            } else {
                vec![(slug.to_owned(), id)]
            };
            assert_eq!(answer.unwrap(), expected);
        }
        let behind_the_first = if batching { 39 } else { 0 };
        assert_eq!(calls.counts.joined("articles"), behind_the_first);
    }
}

#[tokio::test]
async fn deletions_are_told_page_by_page_each_once() {
    let port = Port::over(World::default()).await;
    let mut articles = BTreeSet::new();
    for n in 0..25 {
        articles.insert(
            port.publish([ANN, BEN][n % 2], &format!("Bread {n}"), "food", 1)
                .await
                .id,
        );
    }
    let local = Local::new(port.articles.clone());
    assert_eq!(
        local.deleted_since(DeletionCursor::default(), 10).await.unwrap(),
        []
    );
    let now = Timestamp::from_millis(5);
    let deleting = join_all(articles.iter().map(|article| port.articles.delete(*article, now)));
    // Another transaction of the cluster may hold back the last ones for a moment.
    let reading = async {
        let (mut cursor, mut told) = (DeletionCursor::default(), BTreeSet::new());
        while told.len() < articles.len() {
            let page = local.deleted_since(cursor, 4).await.unwrap();
            assert!(page.len() <= 4);
            for deletion in page {
                assert!(deletion.cursor > cursor, "in the cursor's order");
                assert_eq!(deletion.cursor.article, deletion.article);
                assert!(told.insert(deletion.article), "told twice");
                cursor = deletion.cursor;
            }
        }
        told
    };
    let (deleted, told) = join(deleting, reading).await;
    assert!(deleted.into_iter().all(Result::unwrap));
    assert_eq!(told, articles);
}
