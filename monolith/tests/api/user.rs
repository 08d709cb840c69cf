use conduit_domain::AccountId;

use crate::app::{error, start, token};

#[actix_web::test]
async fn the_caller_sees_and_changes_their_own_account() {
    let app = start().await;
    let ann = app.database.seed().account("ann").await.id;
    let shown = |bio: &str, image: &str| {
        format!(
            r#"{{"user":{{"email":"ann@example.com","token":"{}","username":"ann","bio":{bio},"image":{image}}}}}"#,
            token(ann)
        )
    };
    app.expect("GET /api/user", Some(ann), "", 200, &shown("null", "null"))
        .await;
    let change = r#"{"user":{"bio":"línea 1\n<b>🦀</b> ","image":" i "}}"#;
    let changed = shown(r#""línea 1\n<b>🦀</b> ""#, r#""i""#);
    app.expect("PUT /api/user", Some(ann), change, 200, &changed)
        .await;
    app.expect(
        "PUT /api/user",
        Some(ann),
        r#"{"user":{"image":""}}"#,
        200,
        &shown(r#""línea 1\n<b>🦀</b> ""#, "null"),
    )
    .await;
    app.expect(
        "PUT /api/user",
        Some(ann),
        r#"{"user":{"x":1}}"#,
        422,
        &error("user", "can't be blank"),
    )
    .await;
}

#[actix_web::test]
async fn a_change_is_refused_in_the_order_of_the_contract() {
    let app = start().await;
    let seed = app.database.seed();
    let (ann, gone) = (seed.account("ann").await.id, AccountId(77));
    seed.account("ben").await;
    let taken = r#"{"user":{"username":"BEN"}}"#;
    for (caller, body, status, shown) in [
        (None, "{", 401, error("token", "is missing")),
        (Some(ann), "{", 400, error("request", "is malformed")),
        (
            Some(ann),
            r#"{"user":{"email":null}}"#,
            422,
            error("email", "can't be blank"),
        ),
        (
            Some(gone),
            r#"{"user":{"email":null}}"#,
            422,
            error("email", "can't be blank"),
        ),
        (Some(gone), taken, 401, error("token", "is invalid")),
        (Some(ann), taken, 409, error("username", "has already been taken")),
    ] {
        app.expect("PUT /api/user", caller, body, status, &shown).await;
    }
    app.expect(
        "GET /api/user",
        Some(gone),
        "",
        401,
        &error("token", "is invalid"),
    )
    .await;
}
