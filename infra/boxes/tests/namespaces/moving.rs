//! From the monolith to the split and back, on the same data.

use conformance::ctx::Ctx;
use conformance::reads;

use crate::load::Load;
use crate::support::{MONOLITH_1, ONE_SERVICE_PER_BOX, client, deploy, down, inventory, run, run_at, up};

/// The most articles that are read.
const MOST: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn the_data_stay_when_the_monolith_becomes_four_services_and_back() {
    let (monolith, split) = (inventory(MONOLITH_1), inventory(ONE_SERVICE_PER_BOX));
    let Some(mut deployment) = up(&monolith).await else {
        return;
    };
    let ann = written(&client(&deployment, "moving")).await;
    let mut load = Load::start(&deployment, 2).await;
    load.more(3).await;

    // The split beside the monolith, on one database: nginx asks the split already.
    deployment.keep_leftovers(true);
    deploy(&mut deployment, &split).await;
    load.more(3).await;
    load.end(&mut deployment).await;
    let left = deployment.running()["monolith@one"].unit().public();
    let both = [run_at(&format!("http://{left}"), &deployment), run(&deployment)];
    let compared = reads::compare(&both, MOST, |_| {}).await.unwrap();
    assert!(compared.differences.is_empty(), "{:?}", compared.differences);
    assert!(compared.answers >= 100, "{}", compared.answers);
    let as_split = everything(&client(&deployment, "split"), &ann).await;

    // Then without the monolith; and back.
    deployment.keep_leftovers(false);
    deploy(&mut deployment, &split).await;
    assert_eq!(deployment.running().len(), 4);
    let mut load = Load::start(&deployment, 2).await;
    load.more(3).await;
    deploy(&mut deployment, &monolith).await;
    load.more(3).await;
    load.end(&mut deployment).await;
    assert_eq!(deployment.running().keys().collect::<Vec<_>>(), ["monolith@one"]);
    assert_eq!(everything(&client(&deployment, "monolith"), &ann).await, as_split);
    down(deployment).await;
}

/// Somebody with articles, a comment, a follower and a favorite.
async fn written(ctx: &Ctx) -> String {
    let (ann, ben) = (ctx.register().await.unwrap(), ctx.register().await.unwrap());
    ctx.follow(&ben.token, &ann.username).await.unwrap();
    for tags in [["a", "b"], ["b", "c"]] {
        let slug = ctx.publish(&ann, &tags).await.unwrap().slug;
        ctx.favorite(&ben.token, &slug).await.unwrap();
        ctx.comment(&ben.token, &slug, "a comment").await.unwrap();
    }
    ann.username
}

/// What everybody can see of somebody, as bytes.
async fn everything(ctx: &Ctx, username: &str) -> Vec<Vec<u8>> {
    let listed = ctx.list(&format!("author={username}"), None).await.unwrap();
    let mut paths = vec![
        format!("/api/profiles/{username}"),
        format!("/api/articles?author={username}"),
    ];
    for article in &listed.articles {
        let path = conformance::arrange::article_path(&article.slug);
        paths.extend([format!("{path}/comments"), path]);
    }
    let mut all = Vec::new();
    for path in paths {
        all.push(ctx.get(&path).expect(200).await.unwrap().bytes().to_vec());
    }
    all
}
