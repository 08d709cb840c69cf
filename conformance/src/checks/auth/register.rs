//! Registration: what it answers, blank fields, passwords, names and e-mails in use.

use serde_json::{Value, json};

use super::super::{Check, Ctx, Outcome};
use super::{BLANK, INVALID, TAKEN, address};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new("auth-001", "register", registering_answers_the_new_user),
        Check::new(
            "auth-002",
            "register with username \"\"",
            a_blank_username_is_refused,
        ),
        Check::new("auth-003", "register with email \"\"", a_blank_email_is_refused),
        Check::new(
            "auth-004",
            "register with password \"\"",
            a_blank_password_is_refused,
        ),
        Check::new(
            "auth-005",
            "register with {\"user\":{}}; all three null; all three blank",
            all_blank_fields_are_told_together,
        ),
        Check::new(
            "auth-006",
            "register with each field as number, boolean, array, object",
            fields_are_strings,
        ),
        Check::new(
            "auth-007",
            "register u; register u's name with another email",
            a_username_is_given_once,
        ),
        Check::new(
            "auth-008",
            "register u; register u's email with another name",
            an_email_is_given_once,
        ),
        Check::new(
            "auth-009",
            "register with name and email in use; name in use, email blank",
            both_conflicts_are_told_and_blanks_come_first,
        ),
        Check::new(
            "auth-010",
            "register the same name and email in other letter case",
            letter_case_makes_no_other_account,
        ),
        Check::new(
            "auth-011",
            "register with passwords of 7 to 257 characters; log in",
            passwords_have_8_to_256_characters,
        ),
        Check::new(
            "auth-016",
            "10 simultaneous registrations with one username",
            one_of_ten_gets_the_name,
        ),
    ]
}

async fn registering_answers_the_new_user(ctx: Ctx) -> Outcome {
    let (name, email) = (ctx.x(), address(&ctx));
    let answer = ctx.registration(&name, &email, "password").expect(201).await?;
    let user = answer.user()?;
    answer
        .same("username", user.username, name)?
        .same("email", user.email, email)?;
    answer
        .same("bio", user.bio, None::<String>)?
        .same("image", user.image, None::<String>)?;
    let parts: Vec<&str> = user.token.split('.').collect();
    answer.same("the number of the token's parts", parts.len(), 3)?;
    let whole = parts.iter().all(|part| !part.is_empty() && is_base64url(part));
    answer.holds("each part of the token is base64url, and none is empty", whole)?;
    Ok(())
}

fn is_base64url(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

async fn a_blank_username_is_refused(ctx: Ctx) -> Outcome {
    let call = ctx.registration("", &address(&ctx), "password");
    call.refused(422, "username", BLANK).await?;
    Ok(())
}

async fn a_blank_email_is_refused(ctx: Ctx) -> Outcome {
    let call = ctx.registration(&ctx.x(), "", "password");
    call.refused(422, "email", BLANK).await?;
    Ok(())
}

async fn a_blank_password_is_refused(ctx: Ctx) -> Outcome {
    let call = ctx.registration(&ctx.x(), &address(&ctx), "");
    call.refused(422, "password", BLANK).await?;
    Ok(())
}

async fn all_blank_fields_are_told_together(ctx: Ctx) -> Outcome {
    let white = "  \t";
    let users = [
        json!({}),
        json!({"username": null, "email": null, "password": null}),
        json!({"username": white, "email": white, "password": white}),
    ];
    for user in users {
        let call = ctx.post("/api/users").json(&json!({ "user": user }));
        call.refused_all(422, &[("username", BLANK), ("email", BLANK), ("password", BLANK)])
            .await?;
    }
    Ok(())
}

async fn fields_are_strings(ctx: Ctx) -> Outcome {
    for field in ["username", "email", "password"] {
        for value in [json!(5), json!(true), json!(["text"]), json!({"text": "text"})] {
            let mut user = json!({"username": ctx.x(), "email": address(&ctx), "password": "password"});
            replace(&mut user, field, value);
            let call = ctx.post("/api/users").json(&json!({ "user": user }));
            call.refused(422, field, INVALID).await?;
        }
    }
    Ok(())
}

fn replace(object: &mut Value, member: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(member.to_owned(), value);
    }
}

async fn a_username_is_given_once(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let call = ctx.registration(&ann.username, &address(&ctx), "password");
    call.refused(409, "username", TAKEN).await?;
    Ok(())
}

async fn an_email_is_given_once(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let call = ctx.registration(&ctx.x(), &ann.email, "password");
    call.refused(409, "email", TAKEN).await?;
    Ok(())
}

async fn both_conflicts_are_told_and_blanks_come_first(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let call = ctx.registration(&ann.username, &ann.email, "password");
    call.refused_all(409, &[("username", TAKEN), ("email", TAKEN)])
        .await?;
    let call = ctx.registration(&ann.username, "", "password");
    call.refused(422, "email", BLANK).await?;
    Ok(())
}

async fn letter_case_makes_no_other_account(ctx: Ctx) -> Outcome {
    for (typed, other) in [("Ab", "aB"), ("Жук", "жУК")] {
        let x = ctx.x();
        let name = format!("{x}{typed}");
        let answer = ctx
            .registration(&name, &address(&ctx), "password")
            .expect(201)
            .await?;
        answer.same("username", answer.user()?.username, name)?;
        let call = ctx.registration(&format!("{x}{other}"), &address(&ctx), "password");
        call.refused(409, "username", TAKEN).await?;
    }
    let x = ctx.x();
    let email = format!("A.{x}@Ex.test");
    let answer = ctx.registration(&ctx.x(), &email, "password").expect(201).await?;
    answer.same("email", answer.user()?.email, email)?;
    let call = ctx.registration(&ctx.x(), &format!("a.{x}@ex.TEST"), "password");
    call.refused(409, "email", TAKEN).await?;
    Ok(())
}

async fn passwords_have_8_to_256_characters(ctx: Ctx) -> Outcome {
    let short = Some("is too short (minimum is 8 characters)");
    let long = Some("is too long (maximum is 256 characters)");
    let rows = [
        (latin(7), short),
        (latin(8), None),
        (latin(64), None),
        (latin(256), None),
        (latin(257), long),
        ("парольёж".to_owned(), None),
        ("🦀".repeat(7), short),
    ];
    for (password, refusal) in rows {
        let email = address(&ctx);
        let call = ctx.registration(&ctx.x(), &email, &password);
        if let Some(message) = refusal {
            call.refused(422, "password", message).await?;
            continue;
        }
        call.expect(201).await?.user()?;
        let answer = ctx.login(&email, &password).expect(200).await?;
        answer.same("email", answer.user()?.email, email)?;
    }
    Ok(())
}

/// A password of so many letters.
fn latin(length: usize) -> String {
    ('a'..='z').cycle().take(length).collect()
}

async fn one_of_ten_gets_the_name(ctx: Ctx) -> Outcome {
    let name = ctx.x();
    let calls = (0..10)
        .map(|_| ctx.registration(&name, &address(&ctx), "password"))
        .collect();
    let answers = ctx.simultaneously(calls).await?;
    let mut winners = 0;
    for answer in &answers {
        if answer.code() == 201 {
            answer.same("username", answer.user()?.username, name.clone())?;
            winners += 1;
            continue;
        }
        answer.status(409)?.error("username", TAKEN)?;
    }
    super::super::same("the number of answers", answers.len(), 10)?;
    super::super::same("the number of registrations that succeeded", winners, 1)
}
