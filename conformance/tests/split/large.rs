//! Answers larger than what transports take by default have the same bytes in every deployment (reported fault B112).

use std::sync::Arc;

use conduit_testkit::TestDatabase;
use conformance::arrange::{Account, article_path};
use conformance::ctx::{Ctx, Run};
use conformance::http::{Request, Response};
use conformance::log::Certainty;
use conformance::session::Session;
use serde_json::json;

use super::deployment::{Deployment, run};
use super::split::{Split, Transports};

const ARTICLES: usize = 20;
const BODY_CHARACTERS: usize = 300_000;
/// The contract's most (1.9).
const DESCRIPTION_CHARACTERS: usize = 1_000;
const COMMENTS: usize = 4_000;
/// As many as make an answer of the users service larger than 4 MB in both encodings.
const TALKATIVE: usize = 350;
/// Unoptimised programs on a machine that does ten other things have the contract's whole time for it.
const PATIENT: [&str; 1] = ["--rpc-timeout=5s"];

#[tokio::test(flavor = "multi_thread")]
async fn large_answers_have_the_same_bytes_everywhere() {
    let monolith = Deployment::start().await;
    let http = Split::told(Arc::clone(&monolith.database), Transports::Http, &PATIENT);
    let grpc = Split::told(Arc::clone(&monolith.database), Transports::Grpc, &PATIENT);
    let runs = [run(&monolith.address, 1), http.run(2), grpc.run(3)];
    let ctx = Ctx::new(&runs[0], "large");
    let (ann, bob) = (ctx.register().await.unwrap(), ctx.register().await.unwrap());
    ctx.follow(&bob.token, &ann.username).await.unwrap();
    let slug = publish(&ctx, &ann).await;
    let comments = format!("{}/comments", article_path(&slug));
    crowd(&monolith.database, &ann).await;

    let page = ARTICLES * DESCRIPTION_CHARACTERS;
    for (target, token, least) in [
        ("/api/articles?limit=20", None, page),
        ("/api/articles/feed?limit=20", Some(&bob.token), page),
        (article_path(&slug).as_str(), Some(&bob.token), BODY_CHARACTERS),
        (&comments, None, 4 << 20),
        (&comments, Some(&bob.token), 4 << 20),
    ] {
        let expected = get(&runs[0], target, token).await;
        assert_eq!(expected.status, 200, "{target}: {}", expected.text());
        assert!(expected.body.len() > least, "{target}: {}", expected.body.len());
        for run in &runs[1..] {
            let answer = get(run, target, token).await;
            assert_eq!(
                answer.status,
                200,
                "{target} of {}: {}",
                run.target,
                answer.text()
            );
            // Both would be megabytes in the message of the failure.
            assert!(answer.body == expected.body, "{target} of {} differs", run.target);
        }
    }
}

/// Returns the slug of the last.
async fn publish(ctx: &Ctx, author: &Account) -> String {
    let (description, body) = ("é".repeat(DESCRIPTION_CHARACTERS), "ä".repeat(BODY_CHARACTERS));
    let mut slug = String::new();
    for _ in 0..ARTICLES {
        let members = json!({"title": ctx.x(), "description": description, "body": body});
        let answer = ctx.creation(&author.token, members).expect(201).await.unwrap();
        slug = answer.article().unwrap().slug;
    }
    slug
}

/// Talkative accounts, which have said one thing each about the last article, as `author` has all the rest. By themselves: the API
/// would take minutes.
async fn crowd(database: &TestDatabase, author: &Account) {
    let statements = format!(
        "insert into users.accounts \
           (username, username_key, email, email_key, password_hash, bio, image, created_at, updated_at) \
         select 'crowd' || n, 'crowd' || n, 'crowd' || n, 'crowd' || n, '', repeat('🦀', 2000), repeat('🦀', 2048), now(), now() \
         from generate_series(1, {TALKATIVE}) as n; \
         insert into comments.comments (article_id, author_id, body, created_at) \
         select (select max(id) from articles.articles), a.id, 'Comment ' || n, \
           date_trunc('second', now()) - n * interval '1 second' \
         from generate_series(1, {COMMENTS}) as n \
         join users.accounts as a \
           on a.username_key = case when n <= {TALKATIVE} then 'crowd' || n else '{}' end",
        author.username
    );
    let mut session = database.session().await;
    session.run(&statements).await;
    let stored = session.numbers("select count(*) from comments.comments").await;
    assert_eq!(stored, [COMMENTS as i64]);
}

async fn get(run: &Run, target: &str, token: Option<&String>) -> Response {
    let token = token.map(|token| ("Authorization".to_owned(), format!("Token {token}")));
    let request = Request {
        method: "GET".to_owned(),
        target: target.to_owned(),
        headers: token.into_iter().collect(),
        body: None,
    };
    let session = Session::new(run.target.clone(), run.patience);
    session
        .exchange(request, Certainty::Certain)
        .await
        .outcome
        .unwrap()
}
