//! What every service has, and which ports are published where.

use yaml_serde::Value;

use crate::files::{list, services, texts};

const PRIVATE: &str = "${CONDUIT_PRIVATE_ADDRESS:-127.0.0.1}:";
const PUBLIC: &str = "${CONDUIT_PUBLIC_ADDRESS:-0.0.0.0}:${CONDUIT_PUBLIC_PORT:-8080}:8080";

#[test]
fn every_service_is_watched_limited_and_started_again() {
    for (file, name, service) in services() {
        for key in ["healthcheck", "stop_grace_period", "logging", "image"] {
            assert!(service.contains_key(key), "{file}: {name} has no {key}");
        }
        for (key, variable) in [
            ("restart", "${CONDUIT_RESTART:-unless-stopped}".to_owned()),
            ("cpus", format!("${{CONDUIT_{}_CPUS:-", name.to_uppercase())),
            (
                "mem_limit",
                format!("${{CONDUIT_{}_MEMORY:-", name.to_uppercase()),
            ),
        ] {
            let set = service.get(key).and_then(Value::as_str).unwrap_or_default();
            assert!(set.starts_with(&variable), "{file}: {key} of {name} is {set:?}");
        }
    }
}

#[test]
fn only_nginx_is_public_and_nothing_internal_is_published_beside_it() {
    for (file, name, service) in services() {
        let ports = list(&service, "ports");
        let one_box = file == "split" || file == "single";
        match name.as_str() {
            "nginx" => assert_eq!(ports, [PUBLIC], "{file}"),
            _ if one_box => assert!(ports.is_empty(), "{file}: {name} publishes {ports:?}"),
            _ => assert!(!ports.is_empty(), "{file}: nobody reaches {name}"),
        }
        for port in ports.iter().filter(|port| *port != PUBLIC) {
            assert!(port.starts_with(PRIVATE), "{file}: {name} publishes {port}");
            // Probes and metrics are at the second of each program's ports.
            assert!(!port.ends_with('1'), "{file}: {name} publishes its operations");
        }
    }
}

#[test]
fn on_one_box_the_start_goes_by_health() {
    for (file, name, service) in services() {
        let before: Vec<_> = match service.get("depends_on") {
            None => Vec::new(),
            Some(before) => before.as_mapping().unwrap().iter().collect(),
        };
        for (other, how) in &before {
            assert_eq!(
                how["condition"], "service_healthy",
                "{file}: {name} after {other:?}"
            );
        }
        let expected = match (file.as_str(), name.as_str()) {
            ("split", "nginx") => 4,
            ("split" | "single", "postgres") => 0,
            ("split" | "single", _) => 1,
            _ => 0,
        };
        assert_eq!(before.len(), expected, "{file}: {name}");
    }
}

#[test]
fn no_secret_is_in_a_file() {
    for (file, text) in texts() {
        for line in text.lines() {
            let Some((key, value)) = line.trim().split_once(": ") else {
                continue;
            };
            if ["SECRET", "PASSWORD", "DATABASE_URL"]
                .iter()
                .any(|what| key.contains(what) && !key.starts_with('#'))
                && !key.starts_with("CONDUIT_PASSWORD_")
            {
                assert!(
                    value.starts_with("${") && value.ends_with(":-}"),
                    "{file}: {line}"
                );
            }
        }
    }
}
