//! Chance, from the seed alone.

use anyhow::{Context, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal, Zipf};

use super::accounts_for;

/// Favorites of the heavy reader (performance page, rule 10), at most.
const HEAVY_FAVORITES: u64 = 5000;

/// Accounts that the heavy reader follows, at most.
const HEAVY_FOLLOWS: u64 = 1000;

/// How far numbers of favorites, comments and follows lie apart: one in six is 2.7 times the middle or more.
const SPREAD: f64 = 1.0;

/// What is drawn about a thing; each has chance of its own, so that it can be drawn without the others.
#[derive(Clone, Copy)]
pub(super) enum Aspect {
    Account = 1,
    Follows,
    Article,
    Tags,
    Favorites,
    Comments,
}

/// A whole data set.
pub(super) struct Draw {
    pub(super) articles: u64,
    pub(super) accounts: u64,
    seed: u64,
    author: Zipf<f64>,
    tag: Zipf<f64>,
    five: LogNormal<f64>,
    ten: LogNormal<f64>,
}

impl Draw {
    /// `articles`: 1 or more.
    pub(super) fn new(articles: u64, seed: u64) -> Result<Self> {
        let accounts = accounts_for(articles);
        // Distinct tags in use grow, but slower than articles do.
        let tags = 20 + articles.isqrt();
        let zipf = |count: u64| Zipf::new(float(count), 1.0).context("a law of long tails");
        // The mean of a log-normal law is exp(mu + sigma^2 / 2).
        let around = |mean: f64| {
            LogNormal::new(mean.ln() - SPREAD * SPREAD / 2.0, SPREAD).context("a law of how many")
        };
        Ok(Self {
            articles,
            accounts,
            seed,
            author: zipf(accounts)?,
            tag: zipf(tags)?,
            five: around(5.0)?,
            ten: around(10.0)?,
        })
    }

    /// Chance for one aspect of one thing.
    pub(super) fn chance(&self, aspect: Aspect, number: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(((aspect as u64) << 56) | number);
        rng
    }

    /// Somebody, the well-known more often than others. They are spread over all numbers.
    pub(super) fn known(&self, rng: &mut ChaCha8Rng) -> u64 {
        // 7 919 is a prime, and no count of accounts below it or not divisible by it makes two ranks one account.
        let step = if self.accounts.is_multiple_of(7919) {
            1
        } else {
            7919
        };
        (whole(self.author.sample(rng)) * step) % self.accounts
    }

    /// Tags of an article, none to five, in the order of code points.
    pub(super) fn tags_of(&self, article: u64) -> Vec<String> {
        let mut rng = self.chance(Aspect::Tags, article);
        let wanted = [0, 1, 2, 2, 3, 3, 3, 4, 4, 5];
        let count = wanted
            .get(rng.random_range(0..wanted.len()))
            .copied()
            .unwrap_or(3);
        let mut tags: Vec<String> = (0..count)
            .map(|_| super::texts::tag(whole(self.tag.sample(&mut rng)) - 1))
            .collect();
        tags.sort_unstable();
        tags.dedup();
        tags
    }

    /// Who has the article as a favorite.
    pub(super) fn fans(&self, article: u64) -> Vec<u64> {
        let mut rng = self.chance(Aspect::Favorites, article);
        let others = self.accounts - 1;
        let count = whole(self.five.sample(&mut rng).round()).min(others / 2);
        let mut fans = several(&mut rng, others, count);
        let every = (self.articles / HEAVY_FAVORITES).max(2);
        if article.is_multiple_of(every) {
            fans.push(0);
        }
        fans
    }

    /// How many comments the article has.
    pub(super) fn comments(&self, rng: &mut ChaCha8Rng) -> u64 {
        whole(self.five.sample(rng).round()).min(200)
    }

    /// Whom an account follows.
    pub(super) fn followed(&self, account: u64) -> Vec<u64> {
        if account == 0 {
            let every = (self.accounts / HEAVY_FOLLOWS).max(2);
            return (1..self.accounts)
                .filter(|other| other.is_multiple_of(every))
                .collect();
        }
        let mut rng = self.chance(Aspect::Follows, account);
        let wanted = whole(self.ten.sample(&mut rng).round()).min(self.accounts / 2);
        let mut followed: Vec<u64> = (0..wanted).map(|_| self.known(&mut rng)).collect();
        followed.sort_unstable();
        followed.dedup();
        followed.retain(|other| *other != account);
        followed
    }
}

/// Different numbers from 1 to `of`.
fn several(rng: &mut ChaCha8Rng, of: u64, count: u64) -> Vec<u64> {
    let (of, count) = (
        usize::try_from(of).unwrap_or(usize::MAX),
        usize::try_from(count).unwrap_or(0),
    );
    let drawn = rand::seq::index::sample(rng, of, count);
    drawn.into_iter().map(|index| index as u64 + 1).collect()
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "draws are positive and far below 2^53"
)]
fn whole(drawn: f64) -> u64 {
    drawn as u64
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_few_write_most() {
        let draw = Draw::new(10_000, 1).unwrap();
        let mut written: BTreeMap<u64, u64> = BTreeMap::new();
        for article in 0..10_000 {
            let author = draw.known(&mut draw.chance(Aspect::Article, article));
            *written.entry(author).or_default() += 1;
        }
        let mut counts: Vec<u64> = written.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let first: u64 = counts.iter().take(100).sum();
        // A tenth of the accounts writes between half and four fifths.
        assert!((5_000..8_000).contains(&first), "{first}");
        assert!(counts.len() > 500, "{}", counts.len());
    }

    #[test]
    fn means_are_those_of_the_performance_page() {
        let draw = Draw::new(10_000, 7).unwrap();
        let fans: usize = (0..10_000).map(|article| draw.fans(article).len()).sum();
        let comments: u64 = (0..10_000)
            .map(|article| draw.comments(&mut draw.chance(Aspect::Comments, article)))
            .sum();
        let tags: usize = (0..10_000).map(|article| draw.tags_of(article).len()).sum();
        assert!((48_000..62_000).contains(&fans), "{fans}");
        assert!((45_000..55_000).contains(&comments), "{comments}");
        assert!((20_000..30_000).contains(&tags), "{tags}");
    }

    #[test]
    fn there_is_a_heavy_reader() {
        let draw = Draw::new(10_000, 7).unwrap();
        let favorites = (0..10_000)
            .filter(|article| draw.fans(*article).contains(&0))
            .count();
        assert_eq!((favorites, draw.followed(0).len()), (5000, 499));
    }

    #[test]
    fn nobody_appears_twice_or_follows_themselves() {
        let draw = Draw::new(300, 3).unwrap();
        for number in 0..300 {
            let mut fans = draw.fans(number);
            fans.sort_unstable();
            let before = fans.len();
            fans.dedup();
            assert_eq!(fans.len(), before);
            assert!(fans.iter().all(|fan| *fan < draw.accounts));
        }
        for account in 0..draw.accounts {
            assert!(!draw.followed(account).contains(&account));
        }
    }
}
