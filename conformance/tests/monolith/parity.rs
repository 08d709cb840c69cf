//! Two monoliths on two databases are the same application, live and from files.

use conformance::checks;
use conformance::ctx::{Ctx, Run};
use conformance::parity::{self, Parity};
use conformance::recording::{self, Recorded, STORE, Writer};
use conformance::report::{self, Tally};
use conformance::runner;

use super::catalogue::area;
use super::deployment::{Deployment, run};

#[tokio::test]
async fn every_answer_is_equal_on_two_databases() {
    let (left, right) = (Deployment::start().await, Deployment::start().await);
    let runs = [run(&left.address, 7), run(&right.address, 7)];
    let (parity, verdicts) = parity::live(&runs, checks::all(), |_, _| {}).await.unwrap();
    assert!(parity.differences.is_empty(), "{parity}");
    assert!(parity.answers > 1500, "{} answers", parity.answers);
    for verdicts in verdicts {
        assert_eq!(
            Tally::of(&verdicts, 197).passed,
            197,
            "{}",
            report::failures(&verdicts)
        );
    }
}

#[tokio::test]
async fn unequal_stores_are_noticed_at_the_start() {
    let (left, right) = (Deployment::start().await, Deployment::start().await);
    let runs = [run(&left.address, 7), run(&right.address, 7)];
    let ctx = Ctx::new(&runs[1], "x");
    let ann = ctx.register().await.unwrap();
    ctx.publish(&ann, &["one-more"]).await.unwrap();
    let error = parity::live(&runs, checks::all(), |_, _| {})
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("not equal at the start") && error.contains("one-more"),
        "{error}"
    );
}

async fn record(run: &Run, file: &std::path::Path) {
    let mut writer = Writer::create(file, run.seed, &run.target.to_string()).unwrap();
    let ctx = Ctx::new(run, STORE);
    parity::look_at_store(&ctx).await.unwrap();
    let add = |id: &str, steps| Recorded {
        id: id.to_owned(),
        outcome: "ok".to_owned(),
        steps,
    };
    writer.add(&add(STORE, ctx.log().steps())).unwrap();
    for check in [area("http"), area("cmt"), area("prof")].concat() {
        let verdict = runner::one(run, check).await;
        assert!(verdict.outcome.is_ok(), "{:?}", verdict.outcome);
        writer.add(&add(verdict.check.id, verdict.steps)).unwrap();
    }
    writer.finish().unwrap();
}

fn compared(left: &std::path::Path, right: &std::path::Path) -> anyhow::Result<Parity> {
    parity::compare(recording::read(left)?, recording::read(right)?)
}

#[tokio::test]
async fn recordings_compare_as_the_runs_did() {
    let folder = std::env::temp_dir().join(format!("conformance-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [a, b, other] = ["a", "b", "other"].map(|name| folder.join(name));
    let (left, right) = (Deployment::start().await, Deployment::start().await);
    record(&run(&left.address, 7), &a).await;
    record(&run(&right.address, 7), &b).await;

    let parity = compared(&a, &b).unwrap();
    assert!(parity.differences.is_empty(), "{parity}");
    assert!(parity.answers > 200, "{} answers", parity.answers);

    let text = std::fs::read_to_string(&b).unwrap();
    std::fs::write(&other, text.replacen("is too large", "is too big", 1)).unwrap();
    let parity = compared(&a, &other).unwrap();
    assert_eq!(parity.differences.len(), 1, "{parity}");
    assert!(parity.to_string().contains("DIFFERS http-0"), "{parity}");

    std::fs::write(&other, text.replacen("\"seed\":7", "\"seed\":8", 1)).unwrap();
    assert!(
        compared(&a, &other)
            .unwrap_err()
            .to_string()
            .contains("different seeds")
    );
    std::fs::write(&other, "{}").unwrap();
    assert!(
        compared(&a, &other)
            .unwrap_err()
            .to_string()
            .contains("no recording")
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
