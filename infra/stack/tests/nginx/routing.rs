//! Who gets which request, and as what.

use conduit_web::route_infos;
use conformance::target::RouteTable;
use stack::nginx::{self, Topology};

use crate::support::{Front, one_each, program, split};

/// Path parameters that a proxy which decodes or tidies paths would take for something else.
const NAMES: [&str; 8] = [
    "plain",
    "a%2Fb",
    "%2e%2e",
    "..%2F..",
    ".",
    "%2Fcomments",
    "x%3Fy%23z",
    "%E0%B8%81+%20",
];

/// A path for each public route, with the service that must answer it. What every service has may be anybody's, but for readiness.
fn routes(name: &str) -> Vec<(&'static str, String, Option<&'static str>)> {
    let path = |pattern: &str| {
        let segments = pattern.split('/').map(|segment| match segment {
            // Two such names, or one in a short path, may lead out of the root (below).
            "{id}" | "{asset}" => "7",
            segment if segment.starts_with('{') => name,
            segment => segment,
        });
        segments.collect::<Vec<_>>().join("/")
    };
    let service = |area, pattern| match (area, pattern) {
        ("system", "/readyz") => Some("comments"),
        ("system", _) => None,
        (area, _) => Some(area),
    };
    let routes = route_infos().map(|route| {
        (
            route.method,
            path(route.pattern),
            service(route.area, route.pattern),
        )
    });
    routes.collect()
}

#[test]
fn the_table_gives_every_route_to_its_areas_service() {
    let table = RouteTable::built_in().unwrap();
    let mut compared = 0;
    for name in NAMES {
        for (_, path, service) in routes(name) {
            if let Some(service) = service {
                assert_eq!(table.service(&path), service, "{path}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 20 * NAMES.len(), "{compared}");
}

#[test]
fn both_readers_of_the_table_name_the_same_services() {
    let ours = nginx::RouteTable::built_in().unwrap();
    let theirs = RouteTable::built_in().unwrap();
    assert_eq!(ours.services().into_iter().collect::<Vec<_>>(), theirs.services());
}

#[test]
fn every_route_arrives_at_its_service_as_it_was_sent() {
    let Some(program) = program() else { return };
    let services = split();
    let front = Front::start(&program, Topology::Split, one_each(&services), |_| {});
    let table = RouteTable::built_in().unwrap();
    let mut targets: Vec<_> = NAMES
        .into_iter()
        .flat_map(routes)
        .map(|(method, path, _)| (method, path))
        .collect();
    let further = [
        "/api/articles?tag=/comments",
        "/api/articles/x/comments?limit=%2F&offset=..",
        "/api/articles/",
        "/api//articles",
        "/api/articles//comments",
        "/api/articles/comments",
        "/api/articles/x/commentsx",
        "/api/articles/x/../y/comments",
        "/api/usersx",
        "/api/Users",
        "/metrics",
        "/.proxy/400",
        "/.proxy/503?x=1",
        "/",
    ];
    targets.extend(further.map(|target| ("GET", target.to_owned())));
    for (method, target) in targets {
        let answer = front.ask(method, &target);
        let service = table.service(&target);
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, service),
            "{method} {target}"
        );
        let asked = services[service].asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].line(), format!("{method} {target} HTTP/1.1"));
    }
}

#[test]
fn a_body_of_eight_mebibytes_arrives_whole() {
    let Some(program) = program() else { return };
    let services = split();
    let front = Front::start(&program, Topology::Split, one_each(&services), |_| {});
    let body: Vec<u8> = (0..8 << 20).map(|at: u32| at.to_le_bytes()[0]).collect();
    for method in ["POST", "PUT"] {
        let head = format!(
            "{method} /api/articles HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let answer = front.send([head.as_bytes(), &body].concat());
        assert_eq!(answer.status, 200);
        assert!(services["articles"].asked()[0].body == body);
    }
}

#[test]
fn a_request_id_is_passed_on_or_made() {
    let Some(program) = program() else { return };
    let services = split();
    let front = Front::start(&program, Topology::Split, one_each(&services), |_| {});
    let given = |id: &str| {
        front.send(format!(
            "GET /api/tags HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-request-id: {id}\r\n\r\n"
        ));
        services["articles"].asked()[0]
            .header("x-request-id")
            .unwrap()
            .to_owned()
    };
    assert_eq!(given("order-66"), "order-66");
    let made = given(&"x".repeat(200));
    assert!(
        made.len() == 32 && made.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{made}"
    );
    assert_ne!(given("two words"), "two words");
}

/// Of all raw targets this is the one kind that nginx does not let through, whatever its configuration: it refuses the request while
/// it reads it (contract 1.8, step 0), though it would have passed the target on unread.
#[test]
fn dots_that_lead_out_of_the_root_are_malformed() {
    let Some(program) = program() else { return };
    let services = split();
    let front = Front::start(&program, Topology::Split, one_each(&services), |_| {});
    for target in ["/..", "/api/../../x", "/api/tags/%2e%2e/%2e%2e/%2e%2e"] {
        assert_eq!(
            front.ask("GET", target).body,
            r#"{"errors":{"request":["is malformed"]}}"#,
            "{target}"
        );
    }
}
