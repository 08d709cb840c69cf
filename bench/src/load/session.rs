//! Somebody who uses the deployment: one request after the other, with what follows from the answers.

use std::collections::VecDeque;
use std::rc::Rc;

use anyhow::{Context, Result};
use http::{HeaderValue, Method};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Zipf};
use serde_json::{Value, json};

use super::Profile;
use super::profile::Script;
use super::request::{Answer, Request, Then, encoded};
use super::world::World;
use crate::seed::PASSWORD;

/// How uneven the attention is that articles get: of 2 000, the first hundred get half of it.
const ATTENTION: f64 = 0.9;

/// One of so many visits writes something.
const WRITING_VISITS: u32 = 5;

/// Requests of a visit that only reads: feed, article, comments, author.
const READS: usize = 4;

/// Requests of a visit that writes, too: mostly a write and what takes it back.
const READS_AND_WRITES: usize = READS + 2;

/// What titles of articles begin with that are published by a load, and gone soon.
const MEASURED: &str = "Measured article";

/// What all sessions of a generator share.
pub(super) struct Ground {
    world: World,
    tokens: Vec<HeaderValue>,
    attention: Zipf<f64>,
}

/// Somebody who uses the deployment.
pub(super) struct Session {
    ground: Rc<Ground>,
    profile: Profile,
    rng: ChaCha8Rng,
    coming: VecDeque<Request>,
}

impl Ground {
    pub(super) fn new(world: World) -> Result<Self> {
        let tokens = world.viewers.iter().map(super::Viewer::header);
        Ok(Self {
            tokens: tokens.collect::<Result<_>>()?,
            attention: Zipf::new(float(world.slugs.len().max(1)), ATTENTION)
                .context("articles to ask for")?,
            world,
        })
    }
}

impl Session {
    /// `number` sets what is drawn, together with the seed of the generator.
    pub(super) fn new(ground: Rc<Ground>, profile: Profile, seed: u64, number: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        Self {
            ground,
            profile,
            rng,
            coming: VecDeque::new(),
        }
    }

    /// Goes to anywhere within a visit, as if it had begun before. Readers who all began one at the same time would come to its writes
    /// together, and much later.
    pub(super) fn midway(&mut self) {
        if self.profile != Profile::Browse {
            return;
        }
        let only_read = (WRITING_VISITS as usize - 1) * READS;
        let place = self.rng.random_range(0..only_read + READS_AND_WRITES);
        let (passed, writes) = match place.checked_sub(only_read) {
            None => (place % READS, false),
            Some(passed) => (passed, true),
        };
        // Before a visit's feed, it has not begun; after its write, which was none, nothing is there to be taken back.
        if (1..=READS).contains(&passed) {
            let (target, author) = (self.article(""), self.profile());
            let token = self.viewer();
            self.visit(target, author, token.as_ref(), writes);
            self.coming.drain(..passed - 1);
        }
    }

    /// What is asked next.
    pub(super) fn next(&mut self) -> Request {
        if let Some(request) = self.coming.pop_front() {
            return request;
        }
        let script = self.profile.script(&mut self.rng);
        self.begin(script)
    }

    /// What follows from an answer.
    pub(super) fn answered(&mut self, request: &Request, answer: &Answer) {
        match request.then {
            Then::Nothing => {}
            Then::DeleteComment => self.take_back_comment(request, answer),
            Then::DeleteArticle => self.take_back_article(request, answer),
            Then::Open => self.open(request, answer),
        }
    }

    /// What is still to be asked so that the data are as before.
    pub(super) fn rest(&mut self) -> Option<Request> {
        let rest = self.coming.pop_front();
        rest.filter(|request| request.method != Method::GET)
            .or_else(|| (!self.coming.is_empty()).then(|| self.rest()).flatten())
    }

    fn begin(&mut self, script: Script) -> Request {
        match script {
            Script::List => Request::get("list", "/api/articles"),
            Script::ListToken => Request::get("list-token", "/api/articles").token(self.viewer().as_ref()),
            Script::Feed => Request::get("feed", "/api/articles/feed").token(self.viewer().as_ref()),
            Script::Article => Request::get("article", self.article("")).token(self.perhaps().as_ref()),
            Script::Comments => {
                Request::get("comments", self.article("/comments")).token(self.perhaps().as_ref())
            }
            Script::Tags => Request::get("tags", "/api/tags"),
            Script::User => Request::get("user", "/api/user").token(self.viewer().as_ref()),
            Script::Profile => Request::get("profile", self.profile()).token(self.viewer().as_ref()),
            Script::Login => self.log_in(),
            Script::Favorite => {
                let (target, token) = (self.article("/favorite"), self.viewer());
                self.both(("favorite", "unfavorite"), &target, token.as_ref())
            }
            Script::Follow => self.follow(),
            Script::Comment => self.comment(),
            Script::Publish => self.publish(),
            Script::Visit => {
                let token = self.viewer();
                Request::get("feed", "/api/articles/feed")
                    .token(token.as_ref())
                    .then(Then::Open)
            }
        }
    }

    fn log_in(&mut self) -> Request {
        let viewer = self.ground.world.viewers.choose(&mut self.rng);
        let email = viewer.map_or("", |viewer| viewer.email.as_str());
        Request::log_in(email, PASSWORD)
    }

    /// A write and what takes it back, which comes next.
    fn both(
        &mut self,
        (route, back): (&'static str, &'static str),
        target: &str,
        token: Option<&HeaderValue>,
    ) -> Request {
        let undo = Request::get(back, target).method(Method::DELETE).token(token);
        self.coming.push_back(undo);
        Request::get(route, target).method(Method::POST).token(token)
    }

    /// Nobody can follow themselves, and viewers are authors, too.
    fn follow(&mut self) -> Request {
        let ground = Rc::clone(&self.ground);
        let World { viewers, authors, .. } = &ground.world;
        let viewer = self.rng.random_range(0..viewers.len().max(1));
        let own = viewers.get(viewer).map_or("", |viewer| viewer.username.as_str());
        let drawn = self.rng.random_range(0..authors.len().max(1));
        let others = authors.iter().cycle().skip(drawn).take(authors.len());
        let author = others.filter(|name| *name != own).map(String::as_str).next();
        let target = format!("/api/profiles/{}/follow", encoded(author.unwrap_or_default()));
        self.both(("follow", "unfollow"), &target, ground.tokens.get(viewer))
    }

    fn comment(&mut self) -> Request {
        let body =
            json!({"comment": {"body": "Read on the train, twice; the second half is the better one."}});
        Request::get("comment", self.article("/comments"))
            .method(Method::POST)
            .token(self.viewer().as_ref())
            .json(&body)
            .then(Then::DeleteComment)
    }

    fn take_back_comment(&mut self, request: &Request, answer: &Answer) {
        let made = answer.value();
        let Some(id) = made.as_ref().and_then(|value| value.pointer("/comment/id")) else {
            return;
        };
        let undo = Request::get("uncomment", format!("{}/{id}", request.target)).method(Method::DELETE);
        self.coming.push_back(undo.token(request.token.as_ref()));
    }

    fn publish(&mut self) -> Request {
        let number: u64 = self.rng.random();
        let body = json!({"article": {
            "title": format!("{MEASURED} {number}"),
            "description": "Written to be measured",
            "body": "It says little and is gone soon. ".repeat(40),
            "tagList": ["measuring", "ephemera"],
        }});
        Request::get("publish", "/api/articles")
            .method(Method::POST)
            .token(self.viewer().as_ref())
            .json(&body)
            .then(Then::DeleteArticle)
    }

    fn take_back_article(&mut self, request: &Request, answer: &Answer) {
        let made = answer.value();
        let slug = made.as_ref().and_then(|value| value.pointer("/article/slug"));
        let Some(slug) = slug.and_then(Value::as_str) else {
            return;
        };
        let target = format!("/api/articles/{}", encoded(slug));
        let body = json!({"article": {"body": "It says even less now. ".repeat(40)}});
        let edit = Request::get("edit", target.clone())
            .method(Method::PUT)
            .json(&body);
        let delete = Request::get("delete", target).method(Method::DELETE);
        let both = [edit, delete].map(|step| step.token(request.token.as_ref()));
        self.coming.extend(both);
    }

    /// An article of the list, its comments, its author; sometimes a favorite, a follow or a comment. An empty list is left for an
    /// article from anywhere.
    fn open(&mut self, request: &Request, answer: &Answer) {
        let list = answer.value();
        let articles = list.as_ref().and_then(|value| value.get("articles"));
        let chosen = articles
            .and_then(Value::as_array)
            .map(|articles| {
                articles
                    .iter()
                    .filter(|article| stays(article))
                    .collect::<Vec<_>>()
            })
            .and_then(|articles| articles.choose(&mut self.rng).copied());
        let text = |pointer| {
            chosen
                .and_then(|article| article.pointer(pointer))
                .and_then(Value::as_str)
        };
        let target = text("/slug").map_or_else(
            || self.article(""),
            |slug| format!("/api/articles/{}", encoded(slug)),
        );
        let author = text("/author/username").map_or_else(
            || self.profile(),
            |name| format!("/api/profiles/{}", encoded(name)),
        );
        let writes = self.rng.random_ratio(1, WRITING_VISITS);
        self.visit(target, author, request.token.as_ref(), writes);
    }

    /// What comes after the feed.
    fn visit(&mut self, target: String, author: String, token: Option<&HeaderValue>, writes: bool) {
        let comments = Request::get("comments", format!("{target}/comments"));
        let reads = [
            Request::get("article", target),
            comments,
            Request::get("profile", author),
        ];
        self.coming.extend(reads.map(|read| read.token(token)));
        if writes {
            let script = Profile::Write.script(&mut self.rng);
            // What takes a write back is asked after it.
            let place = self.coming.len();
            let write = self.begin(script);
            self.coming.insert(place, write);
        }
    }

    fn article(&mut self, rest: &str) -> String {
        let rank = self.ground.attention.sample(&mut self.rng);
        let slugs = &self.ground.world.slugs;
        let slug = slugs.get(index(rank)).or(slugs.first());
        format!("/api/articles/{}{rest}", slug.map_or("", String::as_str))
    }

    fn profile(&mut self) -> String {
        let author = self.ground.world.authors.choose(&mut self.rng);
        format!("/api/profiles/{}", encoded(author.map_or("", String::as_str)))
    }

    fn viewer(&mut self) -> Option<HeaderValue> {
        self.ground.tokens.choose(&mut self.rng).cloned()
    }

    /// Half of the readers are signed in.
    fn perhaps(&mut self) -> Option<HeaderValue> {
        self.rng.random_bool(0.5).then(|| self.viewer()).flatten()
    }
}

/// What the load itself takes back is not opened: it would be gone before the reader has seen it all, and no fault of the deployment.
fn stays(article: &Value) -> bool {
    let title = article.get("title").and_then(Value::as_str);
    title.is_none_or(|title| !title.starts_with(MEASURED))
}

/// Ranks count from 1.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank is between 1 and the number of articles"
)]
fn index(rank: f64) -> usize {
    (rank as usize).saturating_sub(1)
}

#[allow(clippy::cast_precision_loss, reason = "some thousand articles")]
fn float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Viewer;

    fn session(profile: Profile) -> Session {
        let world = World {
            slugs: vec!["one".into(), "two".into()],
            authors: vec!["ann lee".into()],
            viewers: vec![Viewer {
                username: "ben".into(),
                email: "ben@example.com".into(),
                token: "t".into(),
            }],
            articles: 2,
        };
        Session::new(Rc::new(Ground::new(world).unwrap()), profile, 1, 1)
    }

    fn answer(body: &Value) -> Answer {
        Answer::Status(200, body.to_string().into())
    }

    #[test]
    fn a_write_is_taken_back_by_who_made_it() {
        let mut session = session(Profile::Favorite);
        let (write, back) = (session.next(), session.next());
        assert_eq!((write.method, back.method), (Method::POST, Method::DELETE));
        assert_eq!((write.target, write.token), (back.target, back.token));
    }

    #[test]
    fn nobody_follows_themselves() {
        let mut session = session(Profile::Write);
        let ground = Rc::get_mut(&mut session.ground).unwrap();
        ground.world.authors = vec!["ann lee".into(), "ben".into()];
        for _ in 0..20 {
            let follow = session.begin(Script::Follow);
            assert_eq!(follow.target, "/api/profiles/ann%20lee/follow");
        }
    }

    #[test]
    fn a_comment_is_deleted_by_its_number() {
        let mut session = session(Profile::Write);
        let comment = session.begin(Script::Comment);
        session.answered(&comment, &answer(&json!({"comment": {"id": 77}})));
        let back = session.rest().unwrap();
        assert_eq!(back.target, format!("{}/77", comment.target));
        assert!(session.rest().is_none());
    }

    #[test]
    fn a_refused_write_leads_to_nothing() {
        let mut session = session(Profile::Write);
        for script in [Script::Comment, Script::Publish] {
            let request = session.begin(script);
            session.answered(&request, &Answer::Status(503, "{}".into()));
        }
        assert!(session.rest().is_none());
    }

    #[test]
    fn a_visit_opens_what_the_feed_shows() {
        let mut session = session(Profile::Browse);
        let feed = session.next();
        let list = json!({"articles": [{"slug": "three", "author": {"username": "zoë"}}]});
        session.answered(&feed, &answer(&list));
        let asked: Vec<_> = (0..3).map(|_| session.next().target).collect();
        let expected = [
            "/api/articles/three",
            "/api/articles/three/comments",
            "/api/profiles/zo%C3%AB",
        ];
        assert_eq!(asked, expected);
    }

    #[test]
    fn readers_are_met_anywhere_within_a_visit() {
        let mut met = std::collections::BTreeMap::new();
        for number in 0..22_000 {
            let mut session = session(Profile::Browse);
            session.rng.set_stream(number);
            session.midway();
            let first = session.next();
            *met.entry(if first.method == Method::GET {
                first.route
            } else {
                "a write"
            })
            .or_insert(0_u64) += 1;
            assert!(
                first.method != Method::DELETE,
                "nothing to be taken back was written: {first:?}"
            );
        }
        // Of 22 requests that five visits make, one takes a write back; a feed stands for it.
        for (route, expected) in [
            ("feed", 6000),
            ("article", 5000),
            ("comments", 5000),
            ("profile", 5000),
            ("a write", 1000),
        ] {
            let seen = met.get(route).copied().unwrap_or(0);
            assert!(seen.abs_diff(expected) < 300, "{met:?}");
        }
    }

    #[test]
    fn what_will_soon_be_gone_is_not_opened() {
        let mut session = session(Profile::Browse);
        let feed = session.next();
        let author = json!({"username": "zoë"});
        let articles = json!([
            {"slug": "measured-article-7", "title": "Measured article 7", "author": author},
            {"slug": "three", "title": "Three", "author": author},
        ]);
        for _ in 0..10 {
            session.answered(&feed, &answer(&json!({"articles": articles})));
            assert_eq!(session.next().target, "/api/articles/three");
            session.coming.clear();
        }
    }

    #[test]
    fn what_remains_to_be_done_is_the_writes() {
        let mut session = session(Profile::Browse);
        session.coming.push_back(Request::get("article", "/a"));
        session
            .coming
            .push_back(Request::get("unfollow", "/b").method(Method::DELETE));
        session.coming.push_back(Request::get("tags", "/c"));
        assert_eq!(session.rest().unwrap().target, "/b");
        assert!(session.rest().is_none());
    }
}
