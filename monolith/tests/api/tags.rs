use crate::app::{error, start};

#[actix_web::test]
async fn tags_are_listed_by_use_then_by_code_point() {
    let app = start().await;
    app.expect("GET /api/tags", None, "", 200, r#"{"tags":[]}"#).await;
    let seed = app.database.seed();
    let ann = seed.account("ann").await.id;
    seed.article(ann, "One", &["Zoo", "a", "é"]).await;
    seed.article(ann, "Two", &["a", "b", "é"]).await;
    seed.article(ann, "Three", &["é"]).await;
    app.expect("GET /api/tags", None, "", 200, r#"{"tags":["é","a","Zoo","b"]}"#)
        .await;
    app.expect("DELETE /api/articles/two", Some(ann), "", 204, "")
        .await;
    app.expect("GET /api/tags", None, "", 200, r#"{"tags":["é","Zoo","a"]}"#)
        .await;
    app.expect("POST /api/tags", None, "", 405, &error("method", "not allowed"))
        .await;
}
