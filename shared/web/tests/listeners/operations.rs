use std::sync::atomic::{AtomicU64, Ordering};

use conduit_web::{PoolSize, PoolWaits};

use super::*;

#[actix_web::test]
async fn probes_are_answered_from_its_own_readiness() {
    for (readiness, status, body) in [
        (Some(true), 200, "ready"),
        (Some(false), 503, "unavailable"),
        (None, 503, "unavailable"),
    ] {
        let probed = get(operations(Says(readiness), Metrics::default()), "/readyz").await;
        assert_eq!(
            (probed.0, probed.2),
            (status, format!(r#"{{"status":"{body}"}}"#))
        );
    }
    assert_eq!(
        get(operations(Says(None), Metrics::default()), "/healthz")
            .await
            .0,
        200
    );
}

#[actix_web::test]
async fn nothing_of_the_api_is_there() {
    for path in ["/api/tags", "/openapi.json", "/docs", "/"] {
        assert_eq!(
            get(operations(Says(None), Metrics::default()), path).await.0,
            404,
            "{path}"
        );
    }
}

#[actix_web::test]
async fn metrics_show_pools_and_counts_as_they_are_now() {
    let metrics = Metrics::default();
    metrics.watch_pool("worker-0", || PoolSize {
        size: 4,
        available: 1,
        waiting: 2,
    });
    for (worker, count) in [("worker-0", 3), ("worker-1", 0)] {
        metrics.watch_waits(worker, move || PoolWaits {
            count,
            total: Duration::from_millis(500 * count),
        });
    }
    let counted = Arc::new(AtomicU64::new(6));
    let count = Arc::clone(&counted);
    metrics.watch_count("things_done", "Things done", move || {
        count.load(Ordering::Relaxed)
    });
    counted.store(7, Ordering::Relaxed);
    let (status, kind, text) = get(operations(Says(None), metrics), "/metrics").await;
    assert_eq!(status, 200);
    assert_eq!(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    for line in [
        r#"pool_connections{pool="worker-0",state="open"} 4"#,
        r#"pool_connections{pool="worker-0",state="idle"} 1"#,
        r#"pool_connections{pool="worker-0",state="waiting"} 2"#,
        "# TYPE pool_waits counter\npool_waits_total{pool=\"worker-0\"} 3\npool_waits_total{pool=\"worker-1\"} 0\n",
        "# TYPE pool_wait_seconds counter\npool_wait_seconds_total{pool=\"worker-0\"} 1.5\n",
        "# HELP things_done Things done.\n# TYPE things_done counter\nthings_done_total 7\n",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}
