//! One thing's rows of each table, in the columns' order of [`TABLES`].

use conduit_domain::{SlugBase, Timestamp};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal};

use super::copy::Rows;
use super::draw::{Aspect, Draw};
use super::{PASSWORD_HASH, email_of, texts};

/// 2026-01-01: nothing is younger.
const END: i64 = 1_767_225_600_000;

/// Two years of articles.
const START: i64 = END - 2 * 365 * 86_400_000;

/// The middle of an article's length in bytes; one in six has 2.2 times as many or more.
const BODY: f64 = 1000.0;
const BODY_SPREAD: f64 = 0.8;
const LONGEST_BODY: f64 = 20_000.0;

/// What a table's rows are drawn for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Per {
    Account,
    Article,
}

/// A table, and what one thing adds to it.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static str,
    pub(super) per: Per,
    pub(super) rows: fn(&Draw, u64, &mut Rows),
}

/// In the order of what refers to what.
pub(super) const TABLES: [Table; 6] = [
    Table {
        name: "users.accounts",
        columns: "id, username, username_key, email, email_key, password_hash, bio, image, created_at, updated_at",
        per: Per::Account,
        rows: account,
    },
    Table {
        name: "profiles.follows",
        columns: "follower_id, followee_id",
        per: Per::Account,
        rows: follows,
    },
    Table {
        name: "articles.articles",
        columns: "id, author_id, slug, slug_base, slug_number, title, description, body, tag_list, favorites_count, created_at, updated_at",
        per: Per::Article,
        rows: article,
    },
    Table {
        name: "articles.article_tags",
        columns: "article_id, tag, author_id, created_at",
        per: Per::Article,
        rows: article_tags,
    },
    Table {
        name: "articles.favorites",
        columns: "account_id, article_id, author_id, created_at",
        per: Per::Article,
        rows: favorites,
    },
    Table {
        name: "comments.comments",
        columns: "article_id, author_id, body, created_at",
        per: Per::Article,
        rows: comments,
    },
];

/// What several tables say of an article.
struct Core {
    author: u64,
    created: i64,
    rng: ChaCha8Rng,
}

fn core(draw: &Draw, article: u64) -> Core {
    let mut rng = draw.chance(Aspect::Article, article);
    let author = draw.known(&mut rng);
    let step = (END - START) / signed(draw.articles).max(1);
    let created = START + signed(article) * step + rng.random_range(0..step.max(1));
    Core { author, created, rng }
}

fn account(draw: &Draw, number: u64, rows: &mut Rows) {
    let mut rng = draw.chance(Aspect::Account, number);
    let name = texts::username(number);
    let email = email_of(&name);
    let created = time(START - 86_400_000 + signed(number * 86_400_000 / draw.accounts));
    let bio = rng.random_bool(0.6).then(|| texts::prose(&mut rng, 80));
    let image = rng
        .random_bool(0.5)
        .then(|| format!("https://images.example.com/{number}.jpg"));
    rows.row()
        .number(id(number))
        // Names and addresses are in small ASCII letters, which are their own keys (contract 3.8).
        .texts([&name, &name, &email, &email, PASSWORD_HASH])
        .optional(bio.as_deref())
        .optional(image.as_deref())
        .texts([&created, &created])
        .end();
}

fn follows(draw: &Draw, number: u64, rows: &mut Rows) {
    for followed in draw.followed(number) {
        rows.row().number(id(number)).number(id(followed)).end();
    }
}

fn article(draw: &Draw, number: u64, rows: &mut Rows) {
    let Core {
        author,
        created,
        mut rng,
    } = core(draw, number);
    let title = texts::title(&mut rng, number);
    let slug = SlugBase::of(&title);
    let description = texts::prose(&mut rng, 60);
    let length = LogNormal::new(BODY.ln(), BODY_SPREAD).map_or(BODY, |law| law.sample(&mut rng));
    let body = texts::prose(&mut rng, bytes(length.min(LONGEST_BODY)));
    let tags = format!("{{{}}}", draw.tags_of(number).join(","));
    let created = time(created);
    rows.row()
        .number(id(number))
        .number(id(author))
        .texts([slug.as_str(), slug.as_str()])
        .number(1)
        .texts([&title, &description, &body, &tags])
        .number(signed(draw.fans(number).len() as u64))
        .texts([&created, &created])
        .end();
}

fn article_tags(draw: &Draw, number: u64, rows: &mut Rows) {
    let Core { author, created, .. } = core(draw, number);
    for tag in draw.tags_of(number) {
        let row = rows.row().number(id(number)).texts([tag.as_str()]);
        row.number(id(author)).texts([time(created).as_str()]).end();
    }
}

fn favorites(draw: &Draw, number: u64, rows: &mut Rows) {
    let Core { author, created, .. } = core(draw, number);
    let created = time(created);
    for fan in draw.fans(number) {
        let row = rows.row().number(id(fan)).number(id(number));
        row.number(id(author)).texts([created.as_str()]).end();
    }
}

fn comments(draw: &Draw, number: u64, rows: &mut Rows) {
    let mut at = core(draw, number).created;
    let mut rng = draw.chance(Aspect::Comments, number);
    for _ in 0..draw.comments(&mut rng) {
        let author = rng.random_range(0..draw.accounts);
        let length = rng.random_range(20..400);
        let body = texts::prose(&mut rng, length);
        at += rng.random_range(1_000..43_200_000);
        let row = rows.row().number(id(number)).number(id(author));
        row.texts([body.as_str(), time(at).as_str()]).end();
    }
}

fn time(millis: i64) -> String {
    Timestamp::from_millis(millis).text().as_str().to_owned()
}

/// Rows count from 1.
fn id(number: u64) -> i64 {
    signed(number + 1)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the longest body"
)]
fn bytes(length: f64) -> usize {
    length as usize
}
