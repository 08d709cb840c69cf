use conduit_domain::AccountId;

use crate::app::{NOW, error, start};

#[actix_web::test]
async fn a_new_article_is_shown_whole() {
    let app = start().await;
    let ann = app.database.seed().account("ann").await.id;
    let body = r#"{"article":{"title":" Bread notes ","description":"What \"worked\"","body":" Flour\r\nfirst. ","tagList":["food"," baking ","food"]}}"#;
    let shown = |slug: &str| {
        format!(
            r#"{{"article":{{"slug":"{slug}","title":"Bread notes","description":"What \"worked\"","body":" Flour\r\nfirst. ","tagList":["baking","food"],"createdAt":"{NOW}","updatedAt":"{NOW}","favorited":false,"favoritesCount":0,"author":{{"username":"ann","bio":null,"image":null,"following":false}}}}}}"#
        )
    };
    app.expect("POST /api/articles", Some(ann), body, 201, &shown("bread-notes"))
        .await;
    app.expect(
        "POST /api/articles",
        Some(ann),
        body,
        201,
        &shown("bread-notes-2"),
    )
    .await;
    app.expect(
        "GET /api/articles/bread-notes",
        None,
        "",
        200,
        &shown("bread-notes"),
    )
    .await;
}

#[actix_web::test]
async fn a_new_article_is_refused_in_the_order_of_the_contract() {
    let app = start().await;
    let ann = app.database.seed().account("ann").await.id;
    let gone = Some(AccountId(77));
    let good = r#"{"article":{"title":"t","description":"d","body":"b"}}"#;
    let all = r#"{"errors":{"title":["can't be blank"],"description":["is invalid"],"body":["can't be blank"],"tagList":["is invalid"]}}"#;
    let bad = r#"{"article":{"tagList":null,"description":5}}"#;
    for (caller, body, status, shown) in [
        (None, "{", 401, error("token", "is missing").as_str()),
        (Some(ann), "{", 400, &error("request", "is malformed")),
        (Some(ann), bad, 422, all),
        (gone, bad, 422, all),
        (gone, good, 401, &error("token", "is invalid")),
    ] {
        app.expect("POST /api/articles", caller, body, status, shown)
            .await;
    }
    let empty = r#"{"articles":[],"articlesCount":0}"#;
    app.expect("GET /api/articles", None, "", 200, empty).await;
}

#[actix_web::test]
async fn a_list_shows_a_page_of_what_matches_and_counts_all_of_it() {
    let app = start().await;
    let seed = app.database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("Ben").await.id);
    for (author, title, tags) in [
        (ann, "One", &["C++"][..]),
        (ben, "Two", &["web dev", "ünï"]),
        (ann, "Three", &["web dev"]),
        (ann, "Four", &[]),
    ] {
        seed.article(author, title, tags).await;
    }
    for (query, slugs, count) in [
        ("", "four three two one", 4),
        ("?limit=1", "four", 4),
        ("?limit=2&offset=1", "three two", 4),
        ("?offset=9", "", 4),
        ("?author=ann&limit=1&offset=1", "three", 3),
        ("?author=bEN", "two", 1),
        ("?author=&tag=&favorited=&limit=&offset=", "four three two one", 4),
        ("?tag=web+dev", "three two", 2),
        ("?tag=web%20dev&author=ann", "three", 1),
        ("?tag=C%2B%2B", "one", 1),
        ("?tag=%C3%BCn%C3%AF", "two", 1),
        ("?tag=WEB+DEV", "", 0),
        ("?author=nobody", "", 0),
        ("?author=%00", "", 0),
        ("?tag=%FF", "", 0),
        ("?favorited=nobody", "", 0),
        ("?author=nobody&author=ann&limit=3&limit=1", "four", 3),
        (
            "?unknown=1&limit=99999999999999999999999999",
            "four three two one",
            4,
        ),
    ] {
        let reply = app.get(&format!("/api/articles{query}"), None).await;
        let shown: Vec<_> = reply
            .body
            .split(r#"{"slug":""#)
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
            .collect();
        assert_eq!(shown.join(" "), slugs, "{query}");
        assert!(
            reply.body.ends_with(&format!(r#"],"articlesCount":{count}}}"#)),
            "{query}: {}",
            reply.body
        );
        assert!(!reply.body.contains(r#""body""#), "{query}");
    }
}

#[actix_web::test]
async fn a_bad_page_is_refused() {
    let app = start().await;
    for (query, shown) in [
        ("limit=0", error("limit", "must be greater than or equal to 1")),
        ("offset=-1", error("offset", "must be greater than or equal to 0")),
        ("limit=1.5", error("limit", "is not a number")),
        (
            "offset=-1&limit=x",
            r#"{"errors":{"limit":["is not a number"],"offset":["must be greater than or equal to 0"]}}"#
                .to_owned(),
        ),
    ] {
        app.expect(&format!("GET /api/articles?{query}"), None, "", 422, &shown)
            .await;
    }
}
