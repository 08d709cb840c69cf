//! Transport, CORS, shapes, health (contract 5.1).

mod bodies;

use std::collections::BTreeSet;

use super::{Check, Ctx, Outcome, article_path, profile_path};

pub(super) fn checks() -> Vec<Check> {
    let transport = vec![
        Check::new(
            "http-001",
            "GET /healthz; HEAD /healthz",
            the_process_says_it_lives,
        ),
        Check::new("http-002", "GET /readyz", the_deployment_says_it_is_ready),
        Check::new(
            "http-003",
            "unknown paths, with and without /api",
            unknown_paths_are_not_found,
        ),
        Check::new(
            "http-004",
            "known paths with other methods",
            other_methods_are_not_allowed,
        ),
        Check::new(
            "http-005",
            "HEAD on list, tags, profile, article, user",
            head_answers_like_get_without_body,
        ),
        Check::new(
            "http-006",
            "OPTIONS on a list, on user, on an unknown path",
            preflight_needs_no_token,
        ),
        Check::new(
            "http-007",
            "GET and POST with Origin: 200, 401, 404, 422",
            every_answer_allows_any_origin,
        ),
    ];
    [transport, bodies::checks()].concat()
}

async fn the_process_says_it_lives(ctx: Ctx) -> Outcome {
    ctx.get("/healthz")
        .expect(200)
        .await?
        .exact(r#"{"status":"ok"}"#)?;
    ctx.head("/healthz").expect(200).await?.exact("")?;
    Ok(())
}

async fn the_deployment_says_it_is_ready(ctx: Ctx) -> Outcome {
    ctx.get("/readyz")
        .expect(200)
        .await?
        .exact(r#"{"status":"ready"}"#)?;
    Ok(())
}

async fn unknown_paths_are_not_found(ctx: Ctx) -> Outcome {
    let calls = [
        ctx.get("/api/nope"),
        ctx.get("/nope"),
        ctx.post("/api/nope"),
        ctx.get("/api/articles/"),
        ctx.get("/api/articles/x/y/z"),
        ctx.get("/API/tags"),
    ];
    for call in calls {
        call.refused(404, "route", "not found").await?;
    }
    Ok(())
}

async fn other_methods_are_not_allowed(ctx: Ctx) -> Outcome {
    let rows: [(&str, &str, &[&str]); 5] = [
        ("PATCH", "/api/user", &["GET", "HEAD", "PUT"]),
        ("DELETE", "/api/articles", &["GET", "HEAD", "POST"]),
        ("POST", "/api/tags", &["GET", "HEAD"]),
        ("PUT", "/api/articles/feed", &["GET", "HEAD"]),
        ("GET", "/api/users/login", &["POST"]),
    ];
    for (method, path, allowed) in rows {
        let answer = ctx
            .call(method, path)
            .refused(405, "method", "not allowed")
            .await?;
        let expected: BTreeSet<String> = allowed.iter().map(ToString::to_string).collect();
        answer.same("the header Allow, as a set", answer.header_set("Allow"), expected)?;
    }
    Ok(())
}

async fn head_answers_like_get_without_body(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let article = ctx.publish(&ann, &[]).await?;
    let rows = [
        ("/api/articles".to_owned(), 200),
        ("/api/tags".to_owned(), 200),
        (profile_path(&ann.username), 200),
        (article_path(&article.slug), 200),
        ("/api/user".to_owned(), 401),
    ];
    for (path, status) in rows {
        let get = ctx.get(&path).expect(status).await?;
        let head = ctx.head(&path).expect(status).await?;
        head.exact("")?.same(
            "Content-Type",
            head.header("Content-Type"),
            get.header("Content-Type"),
        )?;
    }
    Ok(())
}

async fn preflight_needs_no_token(ctx: Ctx) -> Outcome {
    for path in ["/api/articles", "/api/user", "/api/nope"] {
        let call = ctx
            .options(path)
            .header("Origin", "http://front.example")
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", "authorization,content-type");
        let answer = call.expect(200).await?;
        answer.exact("")?.has_header("Access-Control-Max-Age", "86400")?;
        let methods = answer.header_set("Access-Control-Allow-Methods");
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"] {
            answer.holds(&format!("allow-methods holds {method}"), methods.contains(method))?;
        }
        let headers: BTreeSet<String> = answer
            .header_set("Access-Control-Allow-Headers")
            .iter()
            .map(|h| h.to_lowercase())
            .collect();
        for header in ["authorization", "content-type", "x-requested-with"] {
            answer.holds(&format!("allow-headers holds {header}"), headers.contains(header))?;
        }
    }
    Ok(())
}

async fn every_answer_allows_any_origin(ctx: Ctx) -> Outcome {
    let blank = ctx.registration("", &format!("{}@example.test", ctx.x()), "password");
    let rows = [
        (ctx.get("/api/tags"), 200),
        (ctx.get("/api/user"), 401),
        (ctx.get("/api/articles/none"), 404),
        (blank, 422),
    ];
    for (call, status) in rows {
        let answer = call
            .header("Origin", "http://front.example")
            .expect(status)
            .await?;
        answer.has_header("Access-Control-Allow-Origin", "*")?;
    }
    Ok(())
}
