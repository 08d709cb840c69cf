use conduit_domain::{AccountId, ArticleChanges, ArticleId};
use futures_util::future::join_all;

use super::{Dice, Shelf, article, now};

#[tokio::test]
async fn forty_at_once_with_the_same_new_tags_do_not_block_each_other() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    for round in 0..5 {
        let names: Vec<_> = (0..8).map(|n| format!("r{round}-{n}")).collect();
        let forward: Vec<_> = names.iter().map(String::as_str).collect();
        let backward: Vec<_> = forward.iter().rev().copied().collect();
        let all = (0..40).map(async |n| {
            let tags = if n % 2 == 0 { &forward } else { &backward };
            shelf
                .store
                .insert(ann, &article(&format!("Round {round}"), tags), now())
                .await
                .unwrap()
        });
        assert_eq!(join_all(all).await.len(), 40);
        let counted = shelf
            .number("select count(*) from articles.tag_totals where articles = 40")
            .await;
        assert_eq!(counted, 8 * (round + 1));
    }
}

#[tokio::test]
async fn tags_that_come_and_go_at_once_do_not_block_each_other() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let mut articles = Vec::new();
    for n in 0..12 {
        articles.push(
            shelf
                .publish(ann, &format!("Draft {n}"), &["a", "c", "e"])
                .await
                .id,
        );
    }
    for round in 0..10 {
        let all = articles.iter().enumerate().map(async |(n, &article)| {
            let tags: &[&str] = if (n + round) % 2 == 0 {
                &["a", "c", "e"]
            } else {
                &["b", "d", "f"]
            };
            shelf
                .store
                .update(article, &tagged(tags), now(), ann)
                .await
                .unwrap()
                .unwrap()
        });
        join_all(all).await;
        shelf.assert_totals_are_right().await;
    }
}

fn tagged(tags: &[&str]) -> ArticleChanges {
    ArticleChanges {
        tag_list: Some(tags.iter().map(|&tag| tag.to_owned()).collect()),
        ..ArticleChanges::default()
    }
}

/// One of anything that can be written, to one of these.
async fn write(
    shelf: &Shelf,
    step: [usize; 4],
    accounts: &[AccountId],
    articles: &[ArticleId],
) -> Option<ArticleId> {
    const TAGS: [&str; 5] = ["a", "b", "c", "d", "e"];
    let [kind, account, which, tags] = step;
    let account = accounts[account % accounts.len()];
    let tags: Vec<_> = TAGS
        .into_iter()
        .enumerate()
        .filter(|(n, _)| tags >> n & 1 == 1)
        .map(|(_, tag)| tag)
        .collect();
    let known = (!articles.is_empty()).then(|| articles[which % articles.len()]);
    match (kind, known) {
        (0..3, _) | (_, None) => {
            let title = format!("Title {}", which % 4);
            return Some(
                shelf
                    .store
                    .insert(account, &article(&title, &tags), now())
                    .await
                    .unwrap()
                    .id,
            );
        }
        (3, Some(known)) => {
            shelf.store.delete(known, now()).await.unwrap();
        }
        (4 | 5, Some(known)) => {
            let title = (which % 2 == 0).then(|| format!("Title {}", which % 5));
            shelf
                .store
                .update(
                    known,
                    &ArticleChanges {
                        title,
                        ..tagged(&tags)
                    },
                    now(),
                    account,
                )
                .await
                .unwrap();
        }
        (6, Some(known)) => {
            shelf.store.unfavorite(known, account).await.unwrap();
        }
        (_, Some(known)) => {
            shelf.store.favorite(known, account).await.unwrap();
        }
    }
    None
}

#[tokio::test]
async fn totals_are_right_after_any_program_of_many() {
    let shelf = Shelf::new().await;
    let accounts = shelf.accounts(5).await;
    let mut articles = Vec::new();
    let mut dice = Dice(7);
    for _ in 0..40 {
        let steps: Vec<_> = (0..12)
            .map(|_| [dice.below(10), dice.below(5), dice.below(64), dice.below(32)])
            .collect();
        let written = join_all(
            steps
                .iter()
                .map(|&step| write(&shelf, step, &accounts, &articles)),
        )
        .await;
        articles.extend(written.into_iter().flatten());
    }
    assert!(shelf.number("select count(*) from articles.deletions").await > 10);
    assert!(shelf.number("select count(*) from articles.articles").await > 50);
    shelf.assert_totals_are_right().await;
}
