use conduit_domain::AccountId;

use crate::app::{NOW, error, start};

#[actix_web::test]
async fn a_comment_is_shown_and_listed() {
    let app = start().await;
    let seed = app.database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    seed.article(ann, "One", &[]).await;
    seed.follow(ann, ben).await;
    let comments = "/api/articles/one/comments";
    app.expect(&format!("GET {comments}"), None, "", 200, r#"{"comments":[]}"#)
        .await;
    let comment = |id: i64, following: bool| {
        format!(
            r#"{{"id":{id},"createdAt":"{NOW}","updatedAt":"{NOW}","body":" a\n🦀 ","author":{{"username":"ben","bio":null,"image":null,"following":{following}}}}}"#
        )
    };
    for id in [3_000_000, 3_000_001] {
        let shown = format!(r#"{{"comment":{}}}"#, comment(id, false));
        app.expect(
            &format!("POST {comments}"),
            Some(ben),
            r#"{"comment":{"body":" a\n🦀 "}}"#,
            201,
            &shown,
        )
        .await;
    }
    for (caller, following) in [
        (Some(ann), true),
        (Some(ben), false),
        (None, false),
        (Some(AccountId(77)), false),
    ] {
        let both = format!(
            r#"{{"comments":[{},{}]}}"#,
            comment(3_000_001, following),
            comment(3_000_000, following)
        );
        app.expect(&format!("GET {comments}"), caller, "", 200, &both)
            .await;
    }
    let second = format!(r#"{{"comments":[{}]}}"#, comment(3_000_000, false));
    app.expect(
        &format!("GET {comments}?limit=1&offset=1"),
        None,
        "",
        200,
        &second,
    )
    .await;
}

#[actix_web::test]
async fn a_comment_is_refused_in_the_order_of_the_contract() {
    let app = start().await;
    let seed = app.database.seed();
    let ann = seed.account("ann").await.id;
    seed.article(ann, "One", &[]).await;
    let (good, blank) = (r#"{"comment":{"body":"x"}}"#, r#"{"comment":{"body":" \n"}}"#);
    let gone = Some(AccountId(77));
    for (slug, caller, body, status, shown) in [
        ("two", None, "{", 401, error("token", "is missing")),
        ("two", Some(ann), "{", 400, error("request", "is malformed")),
        ("two", Some(ann), blank, 404, error("article", "not found")),
        ("one", Some(ann), blank, 422, error("body", "can't be blank")),
        ("one", Some(ann), "{}", 422, error("comment", "can't be blank")),
        ("one", gone, blank, 422, error("body", "can't be blank")),
        ("two", gone, good, 404, error("article", "not found")),
        ("one", gone, good, 401, error("token", "is invalid")),
    ] {
        app.expect(
            &format!("POST /api/articles/{slug}/comments"),
            caller,
            body,
            status,
            &shown,
        )
        .await;
    }
    app.expect(
        "GET /api/articles/one/comments",
        None,
        "",
        200,
        r#"{"comments":[]}"#,
    )
    .await;
    app.expect(
        "GET /api/articles/two/comments",
        None,
        "",
        404,
        &error("article", "not found"),
    )
    .await;
    app.expect(
        "GET /api/articles/two/comments?limit=0",
        None,
        "",
        422,
        &error("limit", "must be greater than or equal to 1"),
    )
    .await;
}

#[actix_web::test]
async fn only_its_author_deletes_a_comment_and_only_under_its_article() {
    let app = start().await;
    let seed = app.database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    let one = seed.article(ann, "One", &[]).await;
    seed.article(ann, "Two", &[]).await;
    let id = seed.comment(ben, one.id, "x").await;
    for (path, caller, status, shown) in [
        (
            format!("three/comments/{id}"),
            None,
            401,
            error("token", "is missing"),
        ),
        (
            format!("three/comments/{id}"),
            Some(ben),
            404,
            error("article", "not found"),
        ),
        (
            "three/comments/%FF".to_owned(),
            Some(ben),
            404,
            error("article", "not found"),
        ),
        (
            "%FF/comments/1".to_owned(),
            Some(ben),
            404,
            error("article", "not found"),
        ),
        (
            "one/comments/%FF".to_owned(),
            Some(ben),
            404,
            error("comment", "not found"),
        ),
        (
            format!("one/comments/0{id}"),
            Some(ben),
            404,
            error("comment", "not found"),
        ),
        (
            format!("one/comments/+{id}"),
            Some(ben),
            404,
            error("comment", "not found"),
        ),
        (
            format!("two/comments/{id}"),
            Some(ben),
            404,
            error("comment", "not found"),
        ),
        (
            format!("one/comments/{id}"),
            Some(ann),
            403,
            error("comment", "forbidden"),
        ),
        (
            format!("one/comments/{id}"),
            Some(AccountId(77)),
            403,
            error("comment", "forbidden"),
        ),
        (format!("one/comments/{id}"), Some(ben), 204, String::new()),
        (
            format!("one/comments/{id}"),
            Some(ben),
            404,
            error("comment", "not found"),
        ),
    ] {
        app.expect(
            &format!("DELETE /api/articles/{path}"),
            caller,
            "",
            status,
            &shown,
        )
        .await;
    }
}
