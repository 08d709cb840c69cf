//! Peers that are slow, frozen, or somebody else: the public is told that the service is unavailable, in time and in the contract's
//! words alone. (Peers that are down: `calls`; real processes that are paused and killed: the tests of `stack`.)

use std::sync::Arc;

use conduit_testkit::TestDatabase;

use super::gate::{Gate, Way};
use super::needs::{as_usual, refused_without, without};
use super::split::{Split, Transports};
use super::table;
use super::world::World;

/// The services that others ask.
const ASKED: [&str; 3] = ["users", "profiles", "articles"];

#[tokio::test(flavor = "multi_thread")]
async fn over_http_nobody_hears_what_somebody_else_says_in_a_peers_place() {
    somebody_else_answers(Transports::Http, http_words()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_grpc_nobody_hears_what_somebody_else_says_in_a_peers_place() {
    somebody_else_answers(Transports::Grpc, grpc_words()).await;
}

async fn somebody_else_answers(transports: Transports, words: Arc<[Vec<u8>]>) {
    let (mut split, mut world) = with_gates(transports, &[]).await;
    let rows = table::rows();
    for asked in ASKED {
        split.block(asked, &Way::Foreign(Arc::clone(&words)));
        let refused = without(asked, &split.database, &mut world, &rows).await;
        let answered = |split: &mut Split| {
            let gates = split.gates_to(asked).iter();
            gates.map(Gate::answered_by_others).sum::<usize>()
        };
        while answered(&mut split) < words.len() {
            refused[0].is_still_refused(&world).await;
        }
        split.block(asked, &Way::Open);
        for asked in refused {
            asked.recovers(&world).await;
        }
    }
}

async fn with_gates(transports: Transports, also: &[&str]) -> (Split, World) {
    let database = Arc::new(TestDatabase::without_shared_keys().await);
    let split = Split::with_gates(database, transports, also);
    let world = World::make(&split.run(1)).await;
    (split, world)
}

/// What is no answer of a peer, over HTTP.
fn http_words() -> Arc<[Vec<u8>]> {
    let words = [
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<h1>A stranger</h1>",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"errors\":{\"server\":[\"a stranger\"]}}",
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"users\":[{\"id\":",
        "HTTP/1.1 500 Internal Server Error\r\n\r\nthread 'stranger' panicked at",
        "HTTP/1.1 404 Not Found\r\ncontent-length: 41\r\n\r\n{\"errors\":{\"article\":[\"not found by us\"]}}",
        "HTTP/1.1 422 Unprocessable Content\r\n\r\n{\"errors\":{\"body\":[\"is strange\"]}}",
        "HTTP/1.1 302 Found\r\nlocation: http://stranger.test/\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 503 Service Unavailable\r\nretry-after: 7\r\n\r\na stranger's reason",
        "SSH-2.0-stranger\r\n",
    ];
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// What is no answer of a peer, over gRPC.
fn grpc_words() -> Arc<[Vec<u8>]> {
    const SETTINGS: (u8, u8) = (4, 0);
    const GOAWAY: (u8, u8) = (7, 0);
    const HEADERS: (u8, u8) = (1, 4);
    const LAST_HEADERS: (u8, u8) = (1, 5);
    const DATA: (u8, u8) = (0, 0);
    let hello = frame(SETTINGS, 0, b"");
    let says = |status: &[u8], message: &[u8]| {
        let fields = [
            ok(),
            field(b"content-type", b"application/grpc"),
            field(b"grpc-status", status),
            field(b"grpc-message", message),
        ];
        [hello.clone(), frame(LAST_HEADERS, 1, &fields.concat())].concat()
    };
    let head = [ok(), field(b"content-type", b"application/grpc")].concat();
    let page = [ok(), field(b"content-type", b"text/html")].concat();
    [
        says(b"13", b"a stranger panicked"),
        says(b"5", b"not found by a stranger"),
        says(b"14", b"a stranger's reason"),
        says(b"0", b"a stranger has nothing to say"),
        [
            hello.clone(),
            frame(HEADERS, 1, &head),
            frame(DATA, 1, b"\0\0\0\0\x09\x0a"),
        ]
        .concat(),
        [
            hello.clone(),
            frame(HEADERS, 1, &page),
            frame(DATA, 1, b"<h1>A stranger</h1>"),
        ]
        .concat(),
        [
            hello.clone(),
            frame(GOAWAY, 0, b"\0\0\0\0\0\0\0\x02a stranger leaves"),
        ]
        .concat(),
        b"HTTP/1.1 400 Bad Request\r\n\r\na stranger's page".to_vec(),
        b"SSH-2.0-stranger\r\n".to_vec(),
    ]
    .into()
}

/// A frame of HTTP/2, of this kind with these flags.
fn frame((kind, flags): (u8, u8), stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The field `:status: 200`.
fn ok() -> Vec<u8> {
    vec![0x88]
}

/// A header field of HTTP/2, spelt out.
fn field(name: &[u8], value: &[u8]) -> Vec<u8> {
    let length = |text: &[u8]| [u8::try_from(text.len()).unwrap()];
    [&[0], &length(name)[..], name, &length(value), value].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_a_late_answer_is_waited_for_until_the_deadline() {
    slow_peers(Transports::Http).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_grpc_a_late_answer_is_waited_for_until_the_deadline() {
    slow_peers(Transports::Grpc).await;
}

/// A call's own limit is longer than the request's deadline here, so it is the deadline that ends it.
async fn slow_peers(transports: Transports) {
    let (mut split, mut world) = with_gates(transports, &["--rpc-timeout=60s"]).await;
    for (asked, route) in [
        ("users", "GET /api/profiles/{username}"),
        ("profiles", "GET /api/articles/feed"),
        ("articles", "POST /api/articles/{slug}/comments"),
    ] {
        split.block(asked, &Way::Held);
        let request = world.request(route, 1);
        let [http, grpc] = split.gates_to(asked);
        let until_held = async {
            tokio::select! {
                () = http.holds_something() => {}
                () = grpc.holds_something() => {}
            }
            http.set(Way::Open);
            grpc.set(Way::Open);
        };
        let (answer, ()) = tokio::join!(world.ask(request), until_held);
        as_usual(route, true, &answer);
    }
    in_too_little_time(transports, &split.database, world).await;
}

async fn in_too_little_time(transports: Transports, database: &Arc<TestDatabase>, world: World) {
    let hasty = ["--request-deadline=300ms", "--rpc-timeout=60s"];
    let mut split = Split::with_gates(Arc::clone(database), transports, &hasty);
    let mut world = world.at(&split.run(2));
    for asked in ASKED {
        split.block(asked, &Way::Held);
        let refused = refused_without(asked, database, &mut world, &table::rows()).await;
        split.block(asked, &Way::Open);
        for asked in refused {
            asked.recovers(&world).await;
        }
    }
}
