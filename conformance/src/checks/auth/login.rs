//! Login.

use serde_json::json;

use super::super::{Check, Ctx, Outcome};
use super::{BLANK, INVALID, address};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new("auth-017", "register, log in", logging_in_answers_the_user),
        Check::new("auth-018", "log in with email \"\"", a_blank_email_is_refused),
        Check::new(
            "auth-019",
            "log in with password \"\"",
            a_blank_password_is_refused,
        ),
        Check::new(
            "auth-020",
            "log in with a wrong password",
            a_wrong_password_is_refused,
        ),
        Check::new(
            "auth-021",
            "log in with an unknown email, an email with U+0000, a short password",
            all_refused_logins_look_the_same,
        ),
        Check::new(
            "auth-022",
            "log in with the email in other letter case and blanks around it",
            the_email_is_trimmed_and_its_letter_case_ignored,
        ),
        Check::new(
            "auth-023",
            "log in with {\"user\":{}}; both null; both blank; of wrong type",
            both_fields_are_told_together,
        ),
        Check::new(
            "auth-024",
            "register with password \" pass word \"; log in with it and with it trimmed",
            the_password_is_taken_as_sent,
        ),
    ]
}

async fn logging_in_answers_the_user(ctx: Ctx) -> Outcome {
    let (name, email) = (ctx.x(), address(&ctx));
    let registered = ctx
        .registration(&name, &email, "password")
        .expect(201)
        .await?
        .user()?;
    let answer = ctx.login(&email, "password").expect(200).await?;
    let user = answer.user()?;
    answer
        .same("username", &user.username, &registered.username)?
        .same("email", &user.email, &registered.email)?
        .same("bio", &user.bio, &registered.bio)?
        .same("image", &user.image, &registered.image)?;
    // That it is not empty belongs to the shape of a User.
    let answer = ctx.get("/api/user").token(&user.token).expect(200).await?;
    answer.same("username", answer.user()?.username, name)?;
    Ok(())
}

async fn a_blank_email_is_refused(ctx: Ctx) -> Outcome {
    ctx.login("", "password").refused(422, "email", BLANK).await?;
    Ok(())
}

async fn a_blank_password_is_refused(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    ctx.login(&ann.email, "").refused(422, "password", BLANK).await?;
    Ok(())
}

async fn a_wrong_password_is_refused(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let call = ctx.login(&ann.email, &format!("{}!", ann.password));
    let answer = call.refused(401, "credentials", "invalid").await?;
    answer.has_header("WWW-Authenticate", "Token")?;
    Ok(())
}

async fn all_refused_logins_look_the_same(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let wrong = ctx.login(&ann.email, "wrong password").expect(401).await?;
    let calls = [
        ctx.login(&address(&ctx), &ann.password),
        // The right password, so that an e-mail that is cut or cleaned before the look-up would let it in.
        ctx.login(&format!("{}\0", ann.email), &ann.password),
        ctx.login(&ann.email, "abc"),
    ];
    for call in calls {
        call.expect(401).await?.exact(wrong.bytes())?;
    }
    Ok(())
}

async fn the_email_is_trimmed_and_its_letter_case_ignored(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let typed = format!("  {} ", ann.email.to_uppercase());
    let answer = ctx.login(&typed, &ann.password).expect(200).await?;
    answer.same("email", answer.user()?.email, ann.email)?;
    Ok(())
}

async fn both_fields_are_told_together(ctx: Ctx) -> Outcome {
    let rows = [
        (json!({}), BLANK),
        (json!({"email": null, "password": null}), BLANK),
        (json!({"email": "  ", "password": "  "}), BLANK),
        (json!({"email": 5, "password": []}), INVALID),
    ];
    for (user, message) in rows {
        let call = ctx.post("/api/users/login").json(&json!({ "user": user }));
        call.refused_all(422, &[("email", message), ("password", message)])
            .await?;
    }
    Ok(())
}

async fn the_password_is_taken_as_sent(ctx: Ctx) -> Outcome {
    let (email, password) = (address(&ctx), " pass word ");
    ctx.registration(&ctx.x(), &email, password)
        .expect(201)
        .await?
        .user()?;
    ctx.login(&email, password).expect(200).await?.user()?;
    let call = ctx.login(&email, password.trim());
    call.refused(401, "credentials", "invalid").await?;
    Ok(())
}
