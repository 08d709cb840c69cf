//! One box loses its cable: what needs it is unavailable, everything else goes on, and it comes back by itself.

use std::time::Instant;

use boxes::Transport;
use conformance::arrange::profile_path;

use crate::support::{ONE_SERVICE_PER_BOX, ask, client, down, namespaces, over, run, unavailable, until, up};

#[tokio::test(flavor = "multi_thread")]
async fn over_http_a_box_is_cut_off_and_comes_back() {
    profiles_is_cut_off(Transport::Http).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_grpc_a_box_is_cut_off_and_comes_back() {
    profiles_is_cut_off(Transport::Grpc).await;
}

/// With the program's own deadlines: what is tried here is that they hold.
async fn profiles_is_cut_off(transport: Transport) {
    let mut inventory = over(transport, ONE_SERVICE_PER_BOX);
    inventory.variables.clear();
    let Some(mut deployment) = up(&inventory).await else {
        return;
    };
    let ctx = client(&deployment, "cut-off");
    let (ann, ben) = (ctx.register().await.unwrap(), ctx.register().await.unwrap());
    let article = ctx.publish(&ann, &["kept"]).await.unwrap();
    let article = conformance::arrange::article_path(&article.slug);
    let profile = profile_path(&ann.username);
    ctx.follow(&ben.token, &ann.username).await.unwrap();

    namespaces(&mut deployment).cut_off("two").unwrap();
    let run = run(&deployment);
    let needing = [
        ("GET", profile.clone(), None),
        ("GET", profile.clone(), Some(&ben.token)),
        ("DELETE", format!("{profile}/follow"), Some(&ben.token)),
        ("GET", article.clone(), Some(&ben.token)),
        ("GET", "/api/articles".to_owned(), Some(&ben.token)),
        ("GET", "/api/articles/feed".to_owned(), Some(&ben.token)),
        ("POST", format!("{article}/favorite"), Some(&ben.token)),
        ("GET", "/readyz".to_owned(), None),
    ];
    for (method, target, token) in needing {
        let start = Instant::now();
        let answer = ask(&run, method, &target, token.map(String::as_str), None).await;
        eprintln!("{method} {target} was given up after {:?}", start.elapsed());
        match target.as_str() {
            "/readyz" => assert_eq!(answer.0, 503),
            _ => assert_eq!(answer, unavailable(), "{method} {target}"),
        }
    }
    let others = [
        (ctx.get("/api/tags"), 200),
        (ctx.get(&article), 200),
        (ctx.get("/api/articles"), 200),
        (ctx.get(&format!("{article}/comments")), 200),
        (ctx.get("/api/user").token(&ben.token), 200),
        (ctx.login(&ann.email, &ann.password), 200),
    ];
    for (call, status) in others {
        call.expect(status).await.unwrap();
    }
    ctx.comment(
        &ben.token,
        article.rsplit('/').next().unwrap(),
        "written meanwhile",
    )
    .await
    .unwrap();

    namespaces(&mut deployment).reconnect("two").unwrap();
    until("the box does not come back", async || {
        ask(&run, "GET", "/readyz", None, None).await.0 == 200
            && ask(&run, "GET", &profile, None, None).await.0 == 200
    })
    .await;
    assert!(
        ctx.profile(&ann.username, Some(&ben.token))
            .await
            .unwrap()
            .following
    );
    assert_eq!(ctx.feed(&ben.token, "").await.unwrap().count, 1);
    assert_eq!(
        ctx.comments(article.rsplit('/').next().unwrap(), None)
            .await
            .unwrap()
            .len(),
        1
    );
    down(deployment).await;
}
