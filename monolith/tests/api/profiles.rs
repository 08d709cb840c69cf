use conduit_domain::AccountId;

use crate::app::{error, start};

fn profile(username: &str, following: bool) -> String {
    format!(r#"{{"profile":{{"username":"{username}","bio":null,"image":null,"following":{following}}}}}"#)
}

#[actix_web::test]
async fn a_profile_is_found_by_its_decoded_name_in_any_letter_case() {
    let app = start().await;
    let seed = app.database.seed();
    for name in ["Zoë van D", "жук", "a+b", "\u{fffd}", "100"] {
        seed.account(name).await;
    }
    for (segment, name) in [
        ("Zo%C3%AB%20van%20D", "Zoë van D"),
        ("zO%C3%8B%20VAN%20d", "Zoë van D"),
        ("%D0%96%D0%A3%D0%9A", "жук"),
        ("a+b", "a+b"),
        ("A%2BB", "a+b"),
        ("%EF%BF%BD", "\u{fffd}"),
        ("%31%30%30", "100"),
    ] {
        app.expect(
            &format!("GET /api/profiles/{segment}"),
            None,
            "",
            200,
            &profile(name, false),
        )
        .await;
    }
    for segment in [
        "%FF",
        "%C3",
        "a%20b",
        "a%252Bb",
        ".",
        "%2E%2E",
        "a%2Fb",
        "%F0%9F%A6%80",
    ] {
        let reply = app.get(&format!("/api/profiles/{segment}"), None).await;
        assert_eq!(
            (reply.status, reply.body),
            (404, error("profile", "not found")),
            "{segment}"
        );
    }
    app.expect(
        "GET /api/profiles/a%00b",
        None,
        "",
        400,
        &error("request", "is malformed"),
    )
    .await;
}

#[actix_web::test]
async fn following_is_repeatable_and_one_way() {
    let app = start().await;
    let seed = app.database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    for (line, caller, following) in [
        ("GET /api/profiles/ben", Some(ann), false),
        ("POST /api/profiles/BEN/follow", Some(ann), true),
        ("POST /api/profiles/ben/follow", Some(ann), true),
        ("GET /api/profiles/ben", Some(ann), true),
        ("GET /api/profiles/ben", Some(ben), false),
        ("GET /api/profiles/ben", None, false),
        ("DELETE /api/profiles/ben/follow", Some(ann), false),
        ("DELETE /api/profiles/ben/follow", Some(ann), false),
        ("DELETE /api/profiles/ben/follow", Some(ben), false),
    ] {
        app.expect(line, caller, "not json", 200, &profile("ben", following))
            .await;
    }
}

#[actix_web::test]
async fn a_follow_is_refused_in_the_order_of_the_contract() {
    let app = start().await;
    let ann = app.database.seed().account("ann").await.id;
    let gone = Some(AccountId(77));
    for (line, caller, status, shown) in [
        (
            "POST /api/profiles/nobody/follow",
            None,
            401,
            error("token", "is missing"),
        ),
        (
            "POST /api/profiles/nobody/follow",
            Some(ann),
            404,
            error("profile", "not found"),
        ),
        (
            "POST /api/profiles/%FF/follow",
            Some(ann),
            404,
            error("profile", "not found"),
        ),
        (
            "POST /api/profiles/nobody/follow",
            gone,
            404,
            error("profile", "not found"),
        ),
        (
            "POST /api/profiles/ann/follow",
            gone,
            401,
            error("token", "is invalid"),
        ),
        (
            "DELETE /api/profiles/ann/follow",
            gone,
            401,
            error("token", "is invalid"),
        ),
        (
            "POST /api/profiles/ann/follow",
            Some(ann),
            422,
            error("profile", "can't follow yourself"),
        ),
        (
            "PUT /api/profiles/ann/follow",
            None,
            405,
            error("method", "not allowed"),
        ),
    ] {
        app.expect(line, caller, "", status, &shown).await;
    }
}
