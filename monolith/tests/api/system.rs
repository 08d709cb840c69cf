use crate::app::{error, start};

#[actix_web::test]
async fn probes_are_answered() {
    let app = start().await;
    app.expect("GET /healthz", None, "", 200, r#"{"status":"ok"}"#)
        .await;
    app.expect("GET /readyz", None, "", 200, r#"{"status":"ready"}"#)
        .await;
    app.expect("GET /metrics", None, "", 404, &error("route", "not found"))
        .await;
}

#[actix_web::test]
async fn the_description_is_the_library_s_own() {
    let app = start().await;
    let reply = app.get("/openapi.json", None).await;
    assert_eq!(
        (reply.status, reply.body.as_str()),
        (200, conduit_web::document().unwrap())
    );
    assert!(reply.body.starts_with(r#"{"openapi":"3.1.0","#));
}
