use conduit_domain::AccountId;

use crate::app::{error, start};

const MADE: &str = "2026-01-02T03:04:05.679Z";

fn article(slug: &str, title: &str, body: &str, updated: &str) -> String {
    format!(
        r#"{{"article":{{"slug":"{slug}","title":"{title}","description":"About One","body":"{body}","tagList":["t"],"createdAt":"{MADE}","updatedAt":"{updated}","favorited":false,"favoritesCount":0,"author":{{"username":"ann","bio":null,"image":null,"following":false}}}}}}"#
    )
}

#[actix_web::test]
async fn a_change_shows_and_moves_the_time_by_a_millisecond_at_least() {
    let app = start().await;
    let seed = app.database.seed();
    let ann = seed.account("ann").await.id;
    seed.article(ann, "One", &["t"]).await;
    let update = "PUT /api/articles/one";
    app.expect(
        update,
        Some(ann),
        r#"{"article":{}}"#,
        200,
        &article("one", "One", "All of One", MADE),
    )
    .await;
    let changed = article("one", "One", "new", "2026-01-02T03:04:05.680Z");
    app.expect(update, Some(ann), r#"{"article":{"body":"new"}}"#, 200, &changed)
        .await;
    let moved = article("two", "Two", "new", "2026-01-02T03:04:05.681Z");
    app.expect(update, Some(ann), r#"{"article":{"title":"Two"}}"#, 200, &moved)
        .await;
    app.expect("GET /api/articles/two", Some(ann), "", 200, &moved)
        .await;
    app.expect(
        "GET /api/articles/one",
        None,
        "",
        404,
        &error("article", "not found"),
    )
    .await;
}

#[actix_web::test]
async fn a_change_is_refused_in_the_order_of_the_contract() {
    let app = start().await;
    let seed = app.database.seed();
    let ann = seed.account("ann").await.id;
    seed.article(ann, "One", &["t"]).await;
    let ben = seed.account("ben").await.id;
    let blank = r#"{"article":{"title":" ","tagList":null}}"#;
    let faults = r#"{"errors":{"title":["can't be blank"],"tagList":["is invalid"]}}"#;
    for (slug, caller, body, status, shown) in [
        ("two", None, "{", 401, error("token", "is missing").as_str()),
        ("two", Some(ben), "{", 400, &error("request", "is malformed")),
        ("one", Some(ben), "{", 400, &error("request", "is malformed")),
        ("two", Some(ben), blank, 404, &error("article", "not found")),
        ("%FF", Some(ben), blank, 404, &error("article", "not found")),
        ("ONE", Some(ann), blank, 404, &error("article", "not found")),
        ("one", Some(ben), blank, 403, &error("article", "forbidden")),
        (
            "one",
            Some(AccountId(77)),
            blank,
            403,
            &error("article", "forbidden"),
        ),
        ("one", Some(ann), blank, 422, faults),
    ] {
        app.expect(&format!("PUT /api/articles/{slug}"), caller, body, status, shown)
            .await;
    }
    app.expect(
        "GET /api/articles/one",
        None,
        "",
        200,
        &article("one", "One", "All of One", MADE),
    )
    .await;
}

#[actix_web::test]
async fn only_its_author_deletes_an_article() {
    let app = start().await;
    let seed = app.database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    seed.article(ann, "One", &[]).await;
    app.expect(
        "DELETE /api/articles/one",
        Some(ben),
        "",
        403,
        &error("article", "forbidden"),
    )
    .await;
    let reply = app.send("DELETE /api/articles/one", Some(ann), "{").await;
    assert_eq!((reply.status, reply.body.as_str()), (204, ""));
    app.expect(
        "DELETE /api/articles/one",
        Some(ann),
        "",
        404,
        &error("article", "not found"),
    )
    .await;
}

#[actix_web::test]
async fn a_viewer_sees_their_own_flags() {
    let app = start().await;
    let seed = app.database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    let one = seed.article(ann, "One", &[]).await;
    seed.favorite(ben, one.id).await;
    seed.follow(ben, ann).await;
    for (caller, flag) in [
        (Some(ben), true),
        (Some(ann), false),
        (None, false),
        (Some(AccountId(77)), false),
    ] {
        let shown = app.get("/api/articles/one", caller).await.body;
        assert!(
            shown.contains(&format!(r#""favorited":{flag},"favoritesCount":1,"#)),
            "{shown}"
        );
        assert!(
            shown.ends_with(&format!(r#""following":{flag}}}}}}}"#)),
            "{shown}"
        );
    }
}
