use conduit_domain::AccountId;

use crate::app::{error, start};

#[actix_web::test]
async fn a_feed_shows_those_whom_the_caller_follows() {
    let app = start().await;
    let seed = app.database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    seed.article(ann, "Own", &[]).await;
    seed.article(ben, "One", &["t"]).await;
    seed.follow(ann, ben).await;
    let shown = r#"{"articles":[{"slug":"one","title":"One","description":"About One","tagList":["t"],"createdAt":"2026-01-02T03:04:05.681Z","updatedAt":"2026-01-02T03:04:05.681Z","favorited":false,"favoritesCount":0,"author":{"username":"ben","bio":null,"image":null,"following":true}}],"articlesCount":1}"#;
    app.expect("GET /api/articles/feed", Some(ann), "", 200, shown)
        .await;
    app.expect(
        "GET /api/articles/feed?author=ann&tag=x",
        Some(ann),
        "",
        200,
        shown,
    )
    .await;
    let nothing = r#"{"articles":[],"articlesCount":0}"#;
    app.expect("GET /api/articles/feed", Some(ben), "", 200, nothing)
        .await;
}

#[actix_web::test]
async fn a_feed_is_refused_in_the_order_of_the_contract() {
    let app = start().await;
    let ann = app.database.seed().account("ann").await.id;
    app.expect(
        "PUT /api/articles/feed",
        None,
        "",
        405,
        &error("method", "not allowed"),
    )
    .await;
    app.expect(
        "GET /api/articles/feed?limit=x",
        None,
        "",
        401,
        &error("token", "is missing"),
    )
    .await;
    app.expect(
        "GET /api/articles/feed?limit=x",
        Some(ann),
        "",
        422,
        &error("limit", "is not a number"),
    )
    .await;
    app.expect(
        "GET /api/articles/feed",
        Some(AccountId(77)),
        "",
        401,
        &error("token", "is invalid"),
    )
    .await;
}
