use conduit_domain::AccountId;

use crate::app::{error, start};

#[actix_web::test]
async fn a_favorite_is_repeatable_and_counted_once() {
    let app = start().await;
    let seed = app.database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    seed.article(ann, "One", &[]).await;
    for (method, caller, favorited, count) in [
        ("POST", ann, true, 1),
        ("POST", ann, true, 1),
        ("POST", ben, true, 2),
        ("DELETE", ann, false, 1),
        ("DELETE", ann, false, 1),
    ] {
        let shown = format!(
            r#"{{"article":{{"slug":"one","title":"One","description":"About One","body":"All of One","tagList":[],"createdAt":"2026-01-02T03:04:05.680Z","updatedAt":"2026-01-02T03:04:05.680Z","favorited":{favorited},"favoritesCount":{count},"author":{{"username":"ann","bio":null,"image":null,"following":false}}}}}}"#
        );
        app.expect(
            &format!("{method} /api/articles/one/favorite"),
            Some(caller),
            "not json",
            200,
            &shown,
        )
        .await;
    }
    let list = app.get("/api/articles?favorited=BEN", Some(ben)).await.body;
    assert!(
        list.contains(r#""favorited":true,"favoritesCount":1"#) && list.ends_with(r#""articlesCount":1}"#),
        "{list}"
    );
}

#[actix_web::test]
async fn a_favorite_is_refused_in_the_order_of_the_contract() {
    let app = start().await;
    let seed = app.database.seed();
    let ann = seed.account("ann").await.id;
    seed.article(ann, "One", &[]).await;
    let gone = Some(AccountId(77));
    for method in ["POST", "DELETE"] {
        for (slug, caller, status, shown) in [
            ("two", None, 401, error("token", "is missing")),
            ("two", Some(ann), 404, error("article", "not found")),
            ("two", gone, 404, error("article", "not found")),
            ("one", gone, 401, error("token", "is invalid")),
        ] {
            app.expect(
                &format!("{method} /api/articles/{slug}/favorite"),
                caller,
                "",
                status,
                &shown,
            )
            .await;
        }
    }
}
