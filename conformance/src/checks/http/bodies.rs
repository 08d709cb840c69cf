//! Bodies, of requests and of answers: notation, wrappers, size, types (http-008 to http-015).

use serde_json::{Value, json};

use crate::call::Call;
use crate::checks::{Account, Check, Ctx, Outcome, article_path, holds, profile_path};
use crate::rules;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "http-008",
            "one answer of every kind",
            bodies_are_compact_json_of_the_exact_type,
        ),
        Check::new(
            "http-009",
            "DELETE own comment, own article",
            nothing_comes_with_no_content,
        ),
        Check::new(
            "http-010",
            "register with bodies that are not JSON",
            what_is_not_json_is_malformed,
        ),
        Check::new(
            "http-011",
            "register, create article, add comment with bad wrappers",
            wrappers_are_judged_first,
        ),
        Check::new(
            "http-012",
            "create article of 1 048 577 bytes; of 900 000 characters",
            too_large_is_refused,
        ),
        Check::new(
            "http-013",
            "register with several content types",
            the_content_type_is_not_looked_at,
        ),
        Check::new(
            "http-014",
            "register with extra and repeated members",
            unknown_members_are_ignored,
        ),
        Check::new(
            "http-015",
            "follow, favourite, DELETE article with a body",
            bodies_nobody_asked_for_are_ignored,
        ),
    ]
}

const BLANK: &str = "can't be blank";

async fn bodies_are_compact_json_of_the_exact_type(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let title = format!("Crème/Brûlée 🦀 {}", ctx.x());
    let article = ctx.publish_titled(&ann, &title, &["ü/x"]).await?;
    let path = article_path(&article.slug);
    let calls = [
        (
            ctx.registration(&ctx.x(), &format!("{}@example.test", ctx.x()), "password"),
            201,
        ),
        (ctx.login(&ann.email, &ann.password), 200),
        (ctx.get(&path), 200),
        (ctx.get(&format!("/api/articles?author={}", ann.username)), 200),
        (ctx.post("/api/users").body("{"), 400),
        (ctx.get("/api/user"), 401),
        (ctx.delete(&path).token(&ben.token), 403),
        (ctx.get("/api/articles/none"), 404),
        (ctx.put("/api/tags"), 405),
        (
            ctx.registration(&ann.username, &format!("{}@example.test", ctx.x()), "password"),
            409,
        ),
        (ctx.post("/api/users").body(vec![b' '; 1_048_577]), 413),
        (ctx.registration("", "", ""), 422),
    ];
    for (call, status) in calls {
        // Compactness, member order and plain UTF-8 are among the rules for every answer; the type is told once more.
        let answer = call.expect(status).await?;
        answer.has_header("Content-Type", rules::JSON)?;
        answer.holds("no line feed at the end", !answer.bytes().ends_with(b"\n"))?;
    }
    let raw = ctx.get(&path).expect(200).await?;
    let written = format!(r#""title":"{title}""#);
    let found = raw
        .bytes()
        .windows(written.len())
        .any(|piece| piece == written.as_bytes());
    raw.holds(
        "the title stands in the body as plain UTF-8, `/` not escaped",
        found,
    )?;
    Ok(())
}

async fn nothing_comes_with_no_content(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let article = ctx.publish(&ann, &[]).await?;
    let path = article_path(&article.slug);
    let comment = ctx.comment(&ann.token, &article.slug, "Soon gone").await?;
    for path in [format!("{path}/comments/{}", comment.id), path] {
        let answer = ctx.delete(&path).token(&ann.token).expect(204).await?;
        answer
            .exact("")?
            .same("Content-Type", answer.header("Content-Type"), None::<String>)?;
        // A body that was sent all the same would stand in front of the next answer on this connection.
        ctx.get("/api/tags").expect(200).await?;
    }
    Ok(())
}

async fn what_is_not_json_is_malformed(ctx: Ctx) -> Outcome {
    let bodies: [&[u8]; 6] = [
        b"",
        br#"{"user":"#,
        br#"{"user":{}} x"#,
        b"\xFF\xFE",
        br#"{"user":{"username":"\ud800"}}"#,
        &[[b'['; 200], [b']'; 200]].concat(),
    ];
    for body in bodies {
        ctx.post("/api/users")
            .body(body)
            .refused(400, "request", "is malformed")
            .await?;
    }
    Ok(())
}

async fn wrappers_are_judged_first(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let slug = ctx.publish(&ann, &[]).await?.slug;
    let comments = format!("{}/comments", article_path(&slug));
    let routes = [
        (
            "/api/users",
            "user",
            json!({"username": ctx.x(), "email": "a@b.test", "password": "password"}),
        ),
        (
            "/api/articles",
            "article",
            json!({"title": "t", "description": "d", "body": "b"}),
        ),
        (comments.as_str(), "comment", json!({"body": "b"})),
    ];
    for (path, wrapper, fields) in routes {
        let blank = [
            json!({}),
            json!([]),
            json!("x"),
            Value::Null,
            json!({ wrapper: null }),
            fields,
        ];
        for body in blank {
            with_token(&ctx, path, &ann)
                .json(&body)
                .refused(422, wrapper, BLANK)
                .await?;
        }
        for inner in [json!(5), json!("x"), json!([])] {
            let body = json!({ wrapper: inner });
            with_token(&ctx, path, &ann)
                .json(&body)
                .refused(422, wrapper, "is invalid")
                .await?;
        }
    }
    Ok(())
}

fn with_token(ctx: &Ctx, path: &str, account: &Account) -> Call {
    ctx.post(path).token(&account.token)
}

async fn too_large_is_refused(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let empty = json!({"article": {"title": ctx.x(), "description": "d", "body": ""}}).to_string();
    let padding = "x".repeat(1_048_577 - empty.len());
    let huge = empty.replace(r#""body":"""#, &format!(r#""body":"{padding}""#));
    let call = ctx.post("/api/articles").token(&ann.token).body(huge);
    call.refused(413, "request", "is too large").await?;

    let body = "ab3 ".repeat(225_000);
    let members = json!({"title": ctx.x(), "description": "d", "body": body});
    let answer = ctx.creation(&ann.token, members).expect(201).await?;
    let article = answer.article()?;
    answer.holds("the body comes back whole", article.body.as_ref() == Some(&body))?;
    let again = ctx.article(&article.slug, None).await?;
    holds("the body is kept whole", again.body == Some(body))
}

async fn the_content_type_is_not_looked_at(ctx: Ctx) -> Outcome {
    let types = [
        Some("text/plain"),
        None,
        Some("application/json; charset=utf-8"),
        Some("application/x-www-form-urlencoded"),
    ];
    for content_type in types {
        let (name, email) = (ctx.x(), format!("{}@example.test", ctx.x()));
        let body = json!({"user": {"username": name, "email": email, "password": "password"}}).to_string();
        let call = ctx.post("/api/users").body(body);
        let call = match content_type {
            Some(value) => call.header("Content-Type", value),
            None => call,
        };
        let answer = call.expect(201).await?;
        answer.same("username", answer.user()?.username, name)?;
    }
    Ok(())
}

async fn unknown_members_are_ignored(ctx: Ctx) -> Outcome {
    let (name, email) = (ctx.x(), format!("{}@example.test", ctx.x()));
    let user = json!({
        "username": name, "email": email, "password": "password",
        "bio": "b", "image": "i", "admin": true, "token": "t",
    });
    let answer = ctx
        .post("/api/users")
        .json(&json!({"user": user, "more": 1}))
        .expect(201)
        .await?;
    let user = answer.user()?;
    answer
        .same("username", user.username, name)?
        .same("email", user.email, email)?;
    answer
        .same("bio", user.bio, None::<String>)?
        .same("image", user.image, None::<String>)?;
    answer.holds("the token is not the one sent", user.token != "t")?;

    let (first, last) = (ctx.x(), ctx.x());
    let body = format!(
        r#"{{"user":{{"username":"{first}","email":"{last}@example.test","password":"password","username":"{last}"}}}}"#
    );
    let answer = ctx.post("/api/users").body(body).expect(201).await?;
    answer.same("the last username counts", answer.user()?.username, last)?;
    Ok(())
}

async fn bodies_nobody_asked_for_are_ignored(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let path = article_path(&ctx.publish(&ann, &[]).await?.slug);
    let follow = ctx
        .post(&format!("{}/follow", profile_path(&ann.username)))
        .token(&ben.token);
    let answer = follow.json(&json!({"user": {"email": "x"}})).expect(200).await?;
    answer.same("following", answer.profile()?.following, true)?;
    let favorite = ctx
        .post(&format!("{path}/favorite"))
        .token(&ben.token)
        .body("not json");
    let answer = favorite.expect(200).await?;
    answer.same("favorited", answer.article()?.favorited, true)?;
    ctx.delete(&path).token(&ann.token).body("{").expect(204).await?;
    ctx.get(&path).refused(404, "article", "not found").await?;
    Ok(())
}
