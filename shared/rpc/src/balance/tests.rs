//! Under paused time, with copies that are only names.

use std::collections::BTreeMap;

use super::copy::FIRST_REST;
use super::*;

const PATIENCE: Duration = Duration::from_millis(500);

fn balance(address: &str) -> Arc<Balance<String>> {
    let address = address.parse().unwrap();
    Arc::new(Balance::new(&address, 4, PATIENCE, |endpoint| {
        Ok(endpoint.to_string())
    }))
}

async fn pick(balance: &Arc<Balance<String>>) -> (Pick<String>, String) {
    let pick = balance.pick(&[]).await.unwrap();
    let name = pick.copy.channel.clone().unwrap().replace("http://", "");
    (pick, name)
}

async fn served_by(balance: &Arc<Balance<String>>, calls: usize) -> BTreeMap<String, usize> {
    let mut served = BTreeMap::new();
    for _ in 0..calls {
        let (pick, name) = pick(balance).await;
        pick.succeeded();
        *served.entry(name).or_default() += 1;
    }
    served
}

async fn fail(balance: &Arc<Balance<String>>, copy: &str) {
    loop {
        let (pick, name) = pick(balance).await;
        if name == copy {
            return pick.failed();
        }
        pick.says_nothing();
    }
}

#[test]
fn weights_are_spread_out() {
    assert_eq!(spread(&[1, 1, 1]), [0, 1, 2]);
    assert_eq!(spread(&[3, 1]), [0, 0, 1, 0]);
    assert_eq!(spread(&[1]), [0]);
    assert!(spread(&[]).is_empty());
}

#[tokio::test(start_paused = true)]
async fn copies_take_turns_by_weight() {
    let balance = balance("http://a:1*3,http://b:1");
    assert_eq!(
        served_by(&balance, 40).await,
        [("a:1".into(), 30), ("b:1".into(), 10)].into()
    );
}

#[tokio::test(start_paused = true)]
async fn a_failing_copy_is_left_out_longer_each_time_and_used_again() {
    let balance = balance("http://a:1,http://b:1");
    for seconds in [1, 2, 4, 8, 8] {
        fail(&balance, "a:1").await;
        assert_eq!(served_by(&balance, 10).await, [("b:1".into(), 10)].into());
        tokio::time::advance(Duration::from_secs(seconds) - Duration::from_millis(1)).await;
        assert_eq!(served_by(&balance, 10).await, [("b:1".into(), 10)].into());
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    assert_eq!(served_by(&balance, 10).await.len(), 2);
    fail(&balance, "a:1").await;
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(
        served_by(&balance, 10).await,
        [("a:1".into(), 5), ("b:1".into(), 5)].into()
    );
}

#[tokio::test(start_paused = true)]
async fn one_call_tries_a_copy_after_its_rest() {
    let balance = balance("http://a:1,http://b:1");
    fail(&balance, "a:1").await;
    tokio::time::advance(Duration::from_secs(1)).await;
    let mut trial = None;
    for _ in 0..10 {
        let (pick, name) = pick(&balance).await;
        if name == "a:1" {
            assert!(
                trial.replace(pick).is_none(),
                "a second call went to the copy on trial"
            );
        } else {
            pick.succeeded();
        }
    }
    trial.expect("the copy was never tried").succeeded();
    assert_eq!(served_by(&balance, 10).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn when_all_copies_fail_none_is_left_out() {
    let balance = balance("http://a:1,http://b:1");
    fail(&balance, "a:1").await;
    fail(&balance, "b:1").await;
    let (mut names, mut picks) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let (pick, name) = pick(&balance).await;
        names.push(name);
        picks.push(pick);
    }
    names.sort();
    assert_eq!(names, ["a:1", "b:1"]);
    picks.into_iter().for_each(Pick::says_nothing);
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_keeps_callers_waiting_is_left_out() {
    let balance = balance("http://a:1,http://b:1");
    let (mut impatient, _) = pick(&balance).await;
    impatient.starts();
    drop(impatient);
    let (mut waiting, name) = pick(&balance).await;
    assert_eq!(name, "b:1");
    waiting.starts();
    tokio::time::advance(PATIENCE).await;
    drop(waiting);
    assert_eq!(served_by(&balance, 10).await, [("a:1".into(), 10)].into());
}

#[tokio::test(start_paused = true)]
async fn calls_that_fail_together_are_one_failure_of_their_copy() {
    let balance = balance("http://a:1,http://b:1");
    let mut together = Vec::new();
    for _ in 0..8 {
        together.push(pick(&balance).await);
    }
    for (pick, name) in together {
        if name == "a:1" {
            pick.failed();
        } else {
            pick.says_nothing();
        }
    }
    assert_eq!(served_by(&balance, 10).await, [("b:1".into(), 10)].into());
    tokio::time::advance(FIRST_REST).await;
    assert_eq!(served_by(&balance, 10).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_before_is_no_sign_of_life() {
    let balance = balance("http://a:1,http://b:1");
    let (early, name) = pick(&balance).await;
    fail(&balance, &name).await;
    early.succeeded();
    assert_eq!(served_by(&balance, 10).await.len(), 1);
}

fn failed(copy: &Arc<Copy<String>>, no_connection: bool) -> Failed<String> {
    Failed {
        copy: Arc::clone(copy),
        no_connection,
    }
}

#[tokio::test(start_paused = true)]
async fn a_further_attempt_goes_to_another_copy_if_there_is_one() {
    let two = balance("http://a:1,http://b:1");
    for no_connection in [false, true] {
        for _ in 0..4 {
            let (first, name) = pick(&two).await;
            let second = two.pick(&[failed(&first.copy, no_connection)]).await.unwrap();
            assert_ne!(second.copy.channel.clone().unwrap().replace("http://", ""), name);
            second.says_nothing();
            first.says_nothing();
        }
    }
    let only = balance("http://a:1");
    let (first, _) = pick(&only).await;
    assert!(only.pick(&[failed(&first.copy, true)]).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_is_left_out_is_tried_before_one_without_a_connection() {
    let balance = balance("http://a:1,http://b:1");
    fail(&balance, "a:1").await;
    let (first, name) = pick(&balance).await;
    assert_eq!(name, "b:1");
    // One that closed is tried again before one that is left out: it may only have been idle.
    let mut tried = vec![failed(&first.copy, false)];
    let second = balance.pick(&tried).await.unwrap();
    assert!(Arc::ptr_eq(&second.copy, &first.copy));
    tried.push(failed(&second.copy, true));
    second.failed();
    let third = balance.pick(&tried).await.unwrap();
    assert_eq!(third.copy.endpoint.to_string(), "http://a:1");
}

type Answers = Arc<Mutex<Vec<std::io::Result<Vec<SocketAddr>>>>>;

/// A name whose answers are given, first one last.
fn named(answers: &Answers) -> Arc<Balance<String>> {
    let answers = Arc::clone(answers);
    let resolve = move |_, _| -> BoxFuture<'static, _> {
        let answer = lock(&answers).pop().expect("resolved too often");
        Box::pin(async { answer })
    };
    let address = "dns:users:1".parse().unwrap();
    let open = |endpoint: &Endpoint| Ok(endpoint.to_string());
    Arc::new(Balance::with_resolver(
        &address,
        4,
        PATIENCE,
        open,
        Box::new(resolve),
    ))
}

fn failure() -> std::io::Result<Vec<SocketAddr>> {
    Err(std::io::ErrorKind::NotFound.into())
}

fn addresses(ports: &[u16]) -> std::io::Result<Vec<SocketAddr>> {
    Ok(ports
        .iter()
        .map(|port| SocketAddr::from(([127, 0, 0, 1], *port)))
        .collect())
}

#[tokio::test(start_paused = true)]
async fn a_name_is_resolved_again_and_keeps_its_last_addresses() {
    let answers = Answers::new(Mutex::new(vec![
        failure(),
        addresses(&[2, 3]),
        addresses(&[1, 2]),
        failure(),
    ]));
    let balance = named(&answers);
    assert!(matches!(balance.pick(&[]).await, Err(CallError::Unreachable(_))));
    assert_eq!(
        served_by(&balance, 4).await,
        [("127.0.0.1:1".into(), 2), ("127.0.0.1:2".into(), 2)].into()
    );
    for expected in [["127.0.0.1:2", "127.0.0.1:3"], ["127.0.0.1:2", "127.0.0.1:3"]] {
        tokio::time::advance(RESOLVED_FOR).await;
        served_by(&balance, 1).await;
        tokio::task::yield_now().await;
        let served = served_by(&balance, 4).await;
        assert_eq!(served.keys().map(String::as_str).collect::<Vec<_>>(), expected);
    }
    assert!(lock(&answers).is_empty());
}
