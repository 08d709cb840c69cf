use conduit_domain::AccountId;

use crate::app::{error, start, token};

const ADA: &str =
    r#"{"user":{"username":" Ada ","email":"ada@example.test","password":"correct horse","bio":"x"}}"#;

#[actix_web::test]
async fn a_registration_shows_the_account_and_its_token() {
    let app = start().await;
    let reply = app.send("POST /api/users", None, ADA).await;
    assert_eq!(reply.status, 201);
    let token = token(AccountId(1_000_000));
    let shown = format!(
        r#"{{"user":{{"email":"ada@example.test","token":"{token}","username":"Ada","bio":null,"image":null}}}}"#
    );
    assert_eq!(reply.body, shown);
    assert_eq!(reply.header("location"), None);
    let log_in = r#"{"user":{"email":" ADA@example.TEST ","password":"correct horse"}}"#;
    app.expect("POST /api/users/login", None, log_in, 200, &shown)
        .await;
}

#[actix_web::test]
async fn a_registration_reports_every_field_then_every_conflict() {
    let app = start().await;
    for (body, status, shown) in [
        (ADA, 201, None),
        ("{}", 422, Some(error("user", "can't be blank"))),
        (r#"{"user":5}"#, 422, Some(error("user", "is invalid"))),
        (
            r#"{"user":{"username":"ada","email":" ","password":"x"}}"#,
            422,
            Some(r#"{"errors":{"email":["can't be blank"],"password":["is too short (minimum is 8 characters)"]}}"#.to_owned()),
        ),
        (
            r#"{"user":{"username":"aDA","email":"ADA@example.test","password":"12345678"}}"#,
            409,
            Some(r#"{"errors":{"username":["has already been taken"],"email":["has already been taken"]}}"#.to_owned()),
        ),
        ("{", 400, Some(error("request", "is malformed"))),
        ("", 400, Some(error("request", "is malformed"))),
    ] {
        let reply = app.send("POST /api/users", None, body).await;
        assert_eq!(reply.status, status, "{body}");
        assert!(shown.is_none_or(|shown| shown == reply.body), "{body}: {}", reply.body);
    }
}

#[actix_web::test]
async fn a_log_in_does_not_tell_what_was_wrong() {
    let app = start().await;
    app.send("POST /api/users", None, ADA).await;
    for body in [
        r#"{"user":{"email":"ada@example.test","password":"incorrect"}}"#,
        r#"{"user":{"email":"nobody@example.test","password":"correct horse"}}"#,
        r#"{"user":{"email":"a\u0000@example.test","password":"x"}}"#,
    ] {
        app.expect(
            "POST /api/users/login",
            None,
            body,
            401,
            &error("credentials", "invalid"),
        )
        .await;
    }
}
