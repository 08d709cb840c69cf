//! Stopping, pausing, killing; what nginx says meanwhile; what must not be reachable.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stack::{Layout, ProxyChoice, state};

use crate::support::{ask, folder, get, has_nginx, options, up};

const UNAVAILABLE: &str = r#"{"errors":{"server":["is unavailable"]}}"#;

#[tokio::test]
async fn a_process_can_be_stopped_paused_killed_and_started_again() {
    if !has_nginx() {
        return;
    }
    let folder = folder();
    let mut stack = up(Layout::Monolith, &options(&folder)).await;
    let tags = format!("{}/api/tags", stack.address());
    let (served, unavailable) = ((200, r#"{"tags":[]}"#.to_owned()), (503, UNAVAILABLE.to_owned()));
    assert_eq!(get(&tags), served);

    stack.stop_service("monolith").await.unwrap();
    assert_eq!(get(&tags), unavailable);
    assert_eq!(stack.services()[0].pid, None);
    assert!(stack.stop_service("monolith").await.is_err());
    stack.start_service("monolith").await.unwrap();
    assert_eq!(get(&tags), served);

    stack.pause("monolith").unwrap();
    assert_eq!(get(&tags), unavailable);
    stack.resume("monolith").unwrap();
    assert_eq!(get(&tags), served);

    stack.kill_service("monolith").unwrap();
    assert_eq!(get(&tags), unavailable);
    assert!(stack.ended().is_empty(), "it was told to end");
    stack.start_service("monolith").await.unwrap();
    assert_eq!(get(&tags), served);
    assert!(stack.stop_service("search").await.is_err());

    // Whoever ends without being told to is noticed.
    let pid = stack.services()[0].pid.unwrap();
    kill(Pid::from_raw(i32::try_from(pid).unwrap()), Signal::SIGKILL).unwrap();
    let mut told = Vec::new();
    while told.is_empty() {
        get(&tags);
        told = stack.ended();
    }
    assert!(told[0].starts_with("monolith ended (signal: 9"), "{told:?}");
    assert!(stack.ended().is_empty());
    stack.down().await.unwrap();
}

#[tokio::test]
async fn operations_are_out_of_the_publics_reach() {
    if !has_nginx() {
        return;
    }
    let folder = folder();
    let stack = up(Layout::MonolithX4, &options(&folder)).await;
    let (status, body) = get(&format!("{}/metrics", stack.address()));
    assert_eq!(
        (status, body.as_str()),
        (404, r#"{"errors":{"route":["not found"]}}"#)
    );
    for service in stack.services() {
        let (status, metrics) = get(&format!("{}/metrics", service.operations));
        assert_eq!(status, 200);
        assert!(metrics.contains("\nlog_lines_dropped_total 0\n"), "{metrics}");
    }
    stack.down().await.unwrap();
}

#[tokio::test]
async fn the_application_judges_bodies_that_nginx_lets_through() {
    if !has_nginx() {
        return;
    }
    let folder = folder();
    let stack = up(Layout::Monolith, &options(&folder)).await;
    for (path, expected) in [("/api/articles", 401), ("/api/users", 413)] {
        for size in [2 << 20, 8 << 20] {
            let (status, _) = ask("POST", &format!("{}{path}", stack.address()), &vec![b' '; size]);
            assert_eq!(status, expected, "{path}, {size} bytes");
        }
    }
    stack.down().await.unwrap();
}

#[tokio::test]
async fn a_process_that_does_not_come_up_is_quoted() {
    let folder = folder();
    let mut options = options(&folder);
    options.proxy = ProxyChoice::Without;
    options
        .environment
        .push(("CONDUIT_REQUEST_DEADLINE".to_owned(), "forever".to_owned()));
    let told = format!(
        "{:#}",
        stack::Stack::up(Layout::Monolith, &options).await.unwrap_err()
    );
    assert!(
        told.contains("monolith does not come up") && told.contains("forever"),
        "{told}"
    );
    assert_eq!(state::holder(&options.state).unwrap(), None);
}
