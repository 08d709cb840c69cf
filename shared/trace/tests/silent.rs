//! A process without an exporter. Alone in its program, because what one test listens to is switched on for all of them.

use conduit_trace::{TARGET, current, is_on, traceparent};

#[test]
fn without_an_exporter_there_is_no_span() {
    let span = tracing::info_span!(target: TARGET, "request");
    assert!(!is_on());
    assert!(span.is_disabled());
    assert!(current().is_disabled());
    assert_eq!(traceparent(&span), None);
}
