use super::*;

const JSON: &str = "application/json; charset=utf-8";

fn json(status: u16, body: &str) -> (u16, String, String) {
    (status, JSON.to_owned(), body.to_owned())
}

#[actix_web::test]
async fn a_process_is_alive_whether_it_is_ready_or_not() {
    for readiness in [Some(true), Some(false), None] {
        assert_eq!(
            get(public(Says(readiness)), "/healthz").await,
            json(200, r#"{"status":"ok"}"#)
        );
    }
}

#[actix_web::test]
async fn readiness_that_does_not_come_in_time_is_none() {
    assert_eq!(
        get(public(Says(Some(true))), "/readyz").await,
        json(200, r#"{"status":"ready"}"#)
    );
    for readiness in [Some(false), None] {
        assert_eq!(
            get(public(Says(readiness)), "/readyz").await,
            json(503, r#"{"status":"unavailable"}"#)
        );
    }
}

#[actix_web::test]
async fn an_area_that_a_process_lacks_has_no_routes_there() {
    for path in [
        "/api/users",
        "/api/user",
        "/api/profiles/ann",
        "/api/articles/feed",
        "/api/articles/x/comments",
        "/api/tags",
    ] {
        let no_route = json(404, r#"{"errors":{"route":["not found"]}}"#);
        assert_eq!(get(public(Says(Some(true))), path).await, no_route, "{path}");
    }
}

#[actix_web::test]
async fn the_description_is_whole_whatever_areas_a_process_has() {
    let shown = get(public(Says(Some(true))), "/openapi.json").await;
    assert_eq!(shown, json(200, conduit_web::document().unwrap()));
    for route in conduit_web::route_infos().filter(|route| !route.pattern.starts_with("/docs")) {
        assert!(
            shown.2.contains(&format!(r#""{}":{{"#, route.pattern)),
            "{}",
            route.pattern
        );
    }
}

#[actix_web::test]
async fn the_page_and_all_it_asks_for_come_from_the_process() {
    let (status, kind, page) = get(public(Says(Some(true))), "/docs").await;
    assert_eq!((status, kind.as_str()), (200, "text/html; charset=utf-8"));
    assert!(
        !page.contains("http://") && !page.contains("https://") && !page.contains("\"//"),
        "{page}"
    );
    let files: Vec<_> = page
        .split('"')
        .filter(|text| text.starts_with("/docs/"))
        .map(TestRequest::with_uri)
        .collect();
    assert_eq!(files.len(), 2);
    for response in ask(public(Says(Some(true))), files).await {
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers().get("content-encoding").unwrap(), "gzip");
        assert!(read_body(response).await.starts_with(b"\x1f\x8b"));
    }
    for path in ["/docs/index.html", "/docs/", "/docs/..", "/docs/swagger-ui.js"] {
        assert_eq!(get(public(Says(Some(true))), path).await.0, 404, "{path}");
    }
}
