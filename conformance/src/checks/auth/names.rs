//! Registration: which usernames and e-mails there can be.

use super::super::{Check, Ctx, Outcome, profile_path};
use super::{INVALID, address};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "auth-012",
            "register with blanks around username and email; GET the profile",
            names_and_emails_are_trimmed,
        ),
        Check::new(
            "auth-013",
            "register with usernames and emails of bad and of unusual form",
            names_and_emails_have_a_form,
        ),
        Check::new(
            "auth-014",
            "register with username of 64 and 65, email of 254 and 255 characters",
            names_and_emails_have_a_length,
        ),
        Check::new(
            "auth-015",
            "register with U+0000 in username, email, password",
            no_field_holds_u0000,
        ),
    ]
}

async fn names_and_emails_are_trimmed(ctx: Ctx) -> Outcome {
    let x = ctx.x();
    let call = ctx.registration(&format!("  {x}  "), &format!("  {x}@ex.test "), "password");
    let answer = call.expect(201).await?;
    let user = answer.user()?;
    answer
        .same("username", user.username, x.clone())?
        .same("email", user.email, format!("{x}@ex.test"))?;
    let answer = ctx.get(&format!("/api/profiles/{x}")).expect(200).await?;
    answer.same("username", answer.profile()?.username, x)?;
    Ok(())
}

async fn names_and_emails_have_a_form(ctx: Ctx) -> Outcome {
    let x = ctx.x();
    for middle in ["/", "\\", "?", "#", "%", "\n", "\u{7}"] {
        let call = ctx.registration(&format!("{x}a{middle}b"), &address(&ctx), "password");
        call.refused(422, "username", INVALID).await?;
    }
    for name in [".", ".."] {
        let call = ctx.registration(name, &address(&ctx), "password");
        call.refused(422, "username", INVALID).await?;
    }
    for email in ["plain", "@x", "x@", "a b@c"] {
        let call = ctx.registration(&ctx.x(), email, "password");
        call.refused(422, "email", INVALID).await?;
    }
    let (name, email) = (format!("Zoë van {}", ctx.x()), format!("{}@localhost", ctx.x()));
    let answer = ctx.registration(&name, &email, "password").expect(201).await?;
    let user = answer.user()?;
    answer
        .same("username", user.username, name.clone())?
        .same("email", user.email, email)?;
    let answer = ctx.get(&profile_path(&name)).expect(200).await?;
    answer.same("username", answer.profile()?.username, name)?;
    Ok(())
}

async fn names_and_emails_have_a_length(ctx: Ctx) -> Outcome {
    let name = filled(&ctx.x(), 64, "");
    let answer = ctx
        .registration(&name, &address(&ctx), "password")
        .expect(201)
        .await?;
    answer.same("username", answer.user()?.username, name)?;
    let call = ctx.registration(&filled(&ctx.x(), 65, ""), &address(&ctx), "password");
    call.refused(422, "username", "is too long (maximum is 64 characters)")
        .await?;

    let email = filled(&ctx.x(), 254, "@example.test");
    let answer = ctx.registration(&ctx.x(), &email, "password").expect(201).await?;
    answer.same("email", answer.user()?.email, email)?;
    let call = ctx.registration(&ctx.x(), &filled(&ctx.x(), 255, "@example.test"), "password");
    call.refused(422, "email", "is too long (maximum is 254 characters)")
        .await?;
    Ok(())
}

/// A text of so many characters, of which most are more than one byte.
fn filled(start: &str, length: usize, end: &str) -> String {
    let missing = length.saturating_sub(start.len() + end.len());
    format!("{start}{}{end}", "é".repeat(missing))
}

async fn no_field_holds_u0000(ctx: Ctx) -> Outcome {
    let (name, email) = (format!("{}\0b", ctx.x()), format!("{}\0b@example.test", ctx.x()));
    let calls = [
        ("username", ctx.registration(&name, &address(&ctx), "password")),
        ("email", ctx.registration(&ctx.x(), &email, "password")),
        (
            "password",
            ctx.registration(&ctx.x(), &address(&ctx), "pass\0word"),
        ),
    ];
    for (field, call) in calls {
        call.refused(422, field, INVALID).await?;
    }
    Ok(())
}
