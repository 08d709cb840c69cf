//! What every peer does, however it is reached.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use conduit_domain::{AccountId, ArticleId, Error, NameKey};
use conduit_rpc::limits::{KEYS, PAGE};
use conduit_rpc::{
    ArticlesApi, BatchedArticles, BatchedProfiles, BatchedUsers, CallError, DeletionCursor, FindUsers,
    Follow, Peers, ProfilesApi, Transport, User, UsersApi, deadline,
};
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::in_time;
use crate::server::{Server, WAYS, settings};
use crate::world::{Mood, World, deletion, small, user};

/// A name for messages, the peers, and what keeps them alive.
type Way = (String, Peers, Option<Server>);

/// Local, HTTP and gRPC, over both kinds of socket, with and without batching.
fn ways(world: &Arc<World>) -> Vec<Way> {
    let local = Peers {
        users: Arc::clone(world) as Arc<dyn UsersApi>,
        profiles: Arc::clone(world) as Arc<dyn ProfilesApi>,
        articles: Arc::clone(world) as Arc<dyn ArticlesApi>,
    };
    let batched = Peers {
        users: Arc::new(BatchedUsers::new(local.users.clone(), Arc::default())),
        profiles: Arc::new(BatchedProfiles::new(local.profiles.clone(), Arc::default())),
        articles: Arc::new(BatchedArticles::new(local.articles.clone(), Arc::default())),
    };
    let mut ways = vec![
        ("local".to_owned(), local, None),
        ("batched local".to_owned(), batched, None),
    ];
    for way in WAYS {
        for batching in [false, true] {
            let server = Server::start(way, world);
            let mut settings = settings();
            settings.batching = batching;
            let peers = server.peers(&settings);
            ways.push((format!("{way:?}, batching {batching}"), peers, Some(server)));
        }
    }
    ways
}

fn ids(ids: impl IntoIterator<Item = i64>) -> FindUsers {
    FindUsers {
        ids: ids.into_iter().map(AccountId).collect(),
        names: Vec::new(),
    }
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> FindUsers {
    FindUsers {
        ids: Vec::new(),
        names: names.into_iter().map(|name| NameKey::of(name).unwrap()).collect(),
    }
}

fn by_id(mut users: Vec<User>) -> Vec<User> {
    users.sort_by_key(|user| user.id);
    users.dedup();
    users
}

fn pair((follower, followee): (i64, i64)) -> Follow {
    Follow {
        follower: AccountId(follower),
        followee: AccountId(followee),
    }
}

#[tokio::test]
async fn accounts_are_found_by_id_and_by_name_and_the_missing_are_absent() {
    let world = small();
    for (way, peers, _server) in ways(&world) {
        let wanted = FindUsers {
            names: names(["zoë van\u{a0}x", "nobody"]).names,
            ..ids([1_000_001, 5, i64::MAX])
        };
        assert_eq!(
            by_id(in_time(peers.users.find(wanted)).await.unwrap()),
            world.users,
            "{way}"
        );
        let twice = FindUsers {
            names: names(["ANN", "ann"]).names,
            ..ids([1_000_001, 1_000_001])
        };
        assert_eq!(
            by_id(in_time(peers.users.find(twice)).await.unwrap()),
            [user(1_000_001, "ann")],
            "{way}"
        );
        assert_eq!(
            in_time(peers.users.find(FindUsers::default())).await.unwrap(),
            [],
            "{way}"
        );
    }
}

#[tokio::test]
async fn follows_that_hold_come_back() {
    let world = small();
    for (way, peers, _server) in ways(&world) {
        let asked = [
            (1_000_001, 1_000_002),
            (1_000_002, 1_000_001),
            (1_000_002, i64::MAX),
        ]
        .map(pair)
        .to_vec();
        let mut holding = in_time(peers.profiles.follows(asked)).await.unwrap();
        holding.sort();
        assert_eq!(
            holding,
            [(1_000_001, 1_000_002), (1_000_002, i64::MAX)].map(pair),
            "{way}"
        );
    }
}

#[tokio::test]
async fn everybody_whom_a_viewer_follows_comes_in_order_over_any_number_of_pages() {
    let page = i64::from(PAGE);
    let followees = [
        (1, 0),
        (2, 1),
        (3, page - 1),
        (4, page),
        (5, page + 1),
        (6, 2 * page),
        (7, 2 * page + 500),
    ];
    let world = following(&followees);
    for (way, peers, _server) in ways(&world) {
        for (viewer, many) in followees {
            let found = in_time(peers.profiles.followed_by(AccountId(viewer)))
                .await
                .unwrap();
            assert_eq!(found, multiples(many), "{way}");
        }
        let first = peers
            .profiles
            .followed_by_each(vec![AccountId(3), AccountId(4)], PAGE);
        let mut first = in_time(first).await.unwrap();
        first.sort_unstable();
        let expected = [(3, page - 1), (4, page)].map(|(viewer, many)| (AccountId(viewer), multiples(many)));
        assert_eq!(first, expected, "{way}");
    }
}

/// Viewers who follow so many each.
fn following(followees: &[(i64, i64)]) -> Arc<World> {
    let of = |(viewer, many): &(i64, i64)| {
        let viewer = *viewer;
        multiples(*many)
            .into_iter()
            .map(move |followee| (viewer, followee.0))
    };
    Arc::new(World {
        follows: followees.iter().flat_map(of).collect(),
        ..World::default()
    })
}

/// What somebody follows who follows so many.
fn multiples(many: i64) -> Vec<AccountId> {
    (1..=many).map(|id| AccountId(id * 3)).collect()
}

#[tokio::test]
async fn many_who_ask_at_once_whom_they_follow_get_all_of_their_own() {
    // So many that their first pages in one call are shorter than what some of them follow.
    let followees: Vec<(i64, i64)> = (1..=60).map(|viewer| (viewer, viewer * 20 % 900)).collect();
    let world = following(&followees);
    for (way, peers, _server) in ways(&world) {
        let asking = followees
            .iter()
            .map(|(viewer, _)| peers.profiles.followed_by(AccountId(*viewer)));
        let answers = in_time(join_all(asking)).await;
        for ((viewer, many), found) in followees.iter().zip(answers) {
            assert_eq!(found.unwrap(), multiples(*many), "{way}, {viewer}");
        }
    }
}

#[tokio::test]
async fn slugs_lead_to_ids_and_deletions_go_on_from_a_cursor() {
    let world = small();
    for (way, peers, _server) in ways(&world) {
        let slugs = ["x-2", "no-such", "", "a/b", "x\0", "BREAD"]
            .map(str::to_owned)
            .to_vec();
        let found = in_time(peers.articles.ids_by_slugs(slugs)).await.unwrap();
        assert_eq!(found, [("x-2".to_owned(), ArticleId(2_000_002))], "{way}");
        let since = async |cursor, limit| {
            in_time(peers.articles.deleted_since(cursor, limit))
                .await
                .unwrap()
        };
        assert_eq!(
            since(DeletionCursor::default(), 1000).await,
            world.deletions,
            "{way}"
        );
        let cursor = DeletionCursor {
            transaction: 7,
            article: ArticleId(2_000_009),
        };
        assert_eq!(since(cursor, 1).await, [deletion(7, 2_000_010)], "{way}");
        assert_eq!(since(deletion(u64::MAX, 2_000_003).cursor, 5).await, [], "{way}");
    }
}

#[tokio::test]
async fn more_keys_than_a_call_takes_are_split() {
    let many = 2 * KEYS + 1;
    let users: Vec<_> = (1..=many as i64)
        .map(|id| user(id, &format!("name{id}")))
        .collect();
    let articles = (1..=many as i64)
        .map(|id| (format!("slug-{id}"), ArticleId(id)))
        .collect::<Vec<_>>();
    let follows = (1..=many as i64).map(|id| (9, id)).collect::<BTreeSet<_>>();
    let world = Arc::new(World {
        users,
        articles,
        follows,
        ..World::default()
    });
    for (way, peers, server) in ways(&world) {
        let all = FindUsers {
            ids: world.users.iter().step_by(2).map(|user| user.id).collect(),
            ..names(
                world
                    .users
                    .iter()
                    .skip(1)
                    .step_by(2)
                    .map(|user| user.username.as_str()),
            )
        };
        assert_eq!(
            by_id(in_time(peers.users.find(all)).await.unwrap()),
            world.users,
            "{way}"
        );
        let pairs = world.follows.iter().copied().map(pair).collect::<Vec<_>>();
        assert_eq!(
            in_time(peers.profiles.follows(pairs.clone())).await.unwrap(),
            pairs,
            "{way}"
        );
        let slugs = world.articles.iter().map(|(slug, _)| slug.clone()).collect();
        assert_eq!(
            in_time(peers.articles.ids_by_slugs(slugs)).await.unwrap(),
            world.articles,
            "{way}"
        );
        if let Some(server) = server {
            for (peer, method) in [
                ("users", "find"),
                ("profiles", "follows"),
                ("articles", "ids_by_slugs"),
            ] {
                assert_eq!(server.counts.answers(peer, method), 3, "{way} {method}");
            }
        }
    }
}

#[tokio::test]
async fn the_largest_legal_answer_fits() {
    // Contract 1.9: control characters are legal in a bio and inside an image, and JSON spends six bytes on each.
    let large = |id: i64| User {
        username: format!("{id:04}{}", "𐐀".repeat(60)),
        bio: Some("\u{1f}".repeat(2_000)),
        image: Some(format!("x{}x", "\u{1}".repeat(2_046))),
        ..user(i64::MAX - id, "")
    };
    let world = Arc::new(World {
        users: (0..KEYS as i64).map(large).rev().collect(),
        ..World::default()
    });
    for (way, peers, _server) in ways(&world) {
        let all = names(world.users.iter().map(|user| user.username.as_str()));
        let found = in_time(peers.users.find(all))
            .await
            .unwrap_or_else(|error| panic!("{way}: {error:?}"));
        assert!(by_id(found) == world.users, "{way}");
    }
}

#[tokio::test]
async fn names_and_slugs_that_nothing_can_have_are_not_asked_for() {
    for way in WAYS {
        let server = Server::start(way, &small());
        let peers = server.peers(&settings());
        assert_eq!(
            in_time(peers.users.find(names([&*"x".repeat(30_000)])))
                .await
                .unwrap(),
            []
        );
        assert_eq!(
            in_time(peers.articles.ids_by_slugs(vec!["x".repeat(30_000)]))
                .await
                .unwrap(),
            []
        );
        assert_eq!(in_time(peers.profiles.follows(Vec::new())).await.unwrap(), []);
        assert_eq!(server.counts.answers("users", "find"), 0);
        assert_eq!(server.counts.answers("articles", "ids_by_slugs"), 0);
        assert_eq!(server.counts.answers("profiles", "follows"), 0);
    }
}

#[tokio::test]
async fn a_peer_that_fails_says_no_more_than_that() {
    let world = Arc::new(World {
        mood: Mood::Failing,
        ..World::default()
    });
    for (way, peers, server) in ways(&world) {
        let error = in_time(peers.users.find(ids([1]))).await.unwrap_err();
        assert!(matches!(error, CallError::Failed(_)), "{way}: {error:?}");
        if server.is_some() {
            assert!(
                !format!("{error:?}").contains("secret detail"),
                "{way}: {error:?}"
            );
        }
        assert!(matches!(Error::from(error), Error::Unavailable(_)));
    }
}

#[tokio::test]
async fn a_silent_peer_costs_no_more_than_the_deadline() {
    let world = Arc::new(World {
        mood: Mood::Silent,
        ..World::default()
    });
    for way in WAYS {
        let server = Server::start(way, &world);
        let peers = server.peers(&settings());
        let deadline = Instant::now() + Duration::from_millis(50);
        let answer = in_time(deadline::scope(deadline, peers.users.find(ids([1])))).await;
        assert!(matches!(answer, Err(CallError::TimedOut)), "{way:?}: {answer:?}");
        assert!(Instant::now() >= deadline);
        let late = in_time(deadline::scope(deadline, peers.users.find(ids([1])))).await;
        assert!(matches!(late, Err(CallError::TimedOut)), "{way:?}: {late:?}");
        let mut short = settings();
        short.call_timeout = Duration::from_millis(50);
        let answer = in_time(server.peers(&short).users.find(ids([1]))).await;
        assert!(matches!(answer, Err(CallError::TimedOut)), "{way:?}: {answer:?}");
    }
}

#[tokio::test]
async fn the_deadline_travels_with_the_call() {
    for (transport, socket) in WAYS {
        let world = small();
        let server = Server::start((transport, socket), &world);
        let mut settings = settings();
        settings.call_timeout = Duration::from_secs(20);
        let peers = server.peers(&settings);
        for (budget, expected) in [(Some(10), 10), (Some(60), 20), (None, 20)] {
            let before = Instant::now();
            let call = peers.users.find(ids([1]));
            match budget {
                Some(seconds) => in_time(deadline::scope(before + Duration::from_secs(seconds), call)).await,
                None => in_time(call).await,
            }
            .unwrap();
            let seen = world
                .deadlines
                .lock()
                .unwrap()
                .pop()
                .flatten()
                .expect("no deadline arrived");
            let latest = Instant::now() + Duration::from_secs(expected);
            // Never later than the caller's; earlier only by the rounding to milliseconds.
            let earliest = before + Duration::from_secs(expected) - Duration::from_secs(1);
            assert!(earliest < seen && seen <= latest, "{transport:?} {budget:?}");
        }
    }
}

#[tokio::test]
async fn look_ups_at_the_same_time_share_calls_and_get_their_own() {
    let users: Vec<_> = (1..=40).map(|id| user(id, &format!("name{id}"))).collect();
    let world = Arc::new(World {
        users,
        follows: (1..=20).map(|id| (id, id + 20)).collect(),
        ..World::default()
    });
    for way in WAYS {
        let server = Server::start(way, &world);
        let mut settings = settings();
        settings.batching = true;
        let peers = server.peers(&settings);
        let calls = (1..=40).map(|id| {
            let peers = peers.clone();
            async move {
                let wanted = FindUsers {
                    ids: vec![AccountId(id)],
                    ..names([&*format!("name{id}")])
                };
                assert_eq!(
                    by_id(peers.users.find(wanted).await.unwrap()),
                    [user(id, &format!("name{id}"))]
                );
                let asked = vec![pair((id, id + 20)), pair((id, id + 19))];
                let expected = if id <= 20 {
                    vec![pair((id, id + 20))]
                } else {
                    Vec::new()
                };
                assert_eq!(peers.profiles.follows(asked).await.unwrap(), expected);
            }
        });
        in_time(futures_util::future::join_all(calls)).await;
        assert_eq!(settings.counts.calls("users", "find"), 2, "{way:?}");
        assert_eq!(settings.counts.joined("users"), 39, "{way:?}");
        assert!(settings.counts.calls("profiles", "follows") <= 3, "{way:?}");
    }
}

#[tokio::test]
async fn bytes_of_messages_are_counted_by_peer() {
    const ASKED: &str = r#"{"ids":[1000001],"names":[]}"#;
    const ANSWERED: &str = r#"{"users":[{"id":1000001,"username":"ann","bio":null,"image":null}]}"#;
    let world = small();
    for way in WAYS {
        let server = Server::start(way, &world);
        let settings = settings();
        let peers = server.peers(&settings);
        let counts = &settings.counts;
        in_time(peers.users.find(ids([1_000_001]))).await.unwrap();
        let (asked, answered) = match way.0 {
            Transport::Http => (ASKED.len() as u64, ANSWERED.len() as u64),
            // A tag and a length before what has a length, a tag before what has none; the id takes three bytes.
            Transport::Grpc => (1 + 1 + 3, 2 + (1 + 3) + (2 + 3)),
        };
        assert_eq!(counts.sent_bytes("users"), asked, "{way:?}");
        assert_eq!(counts.received_bytes("users"), answered, "{way:?}");
        in_time(peers.users.find(ids([1_000_001]))).await.unwrap();
        assert_eq!(counts.sent_bytes("users"), 2 * asked, "{way:?}");
        assert_eq!(counts.received_bytes("users"), 2 * answered, "{way:?}");
        assert_eq!(counts.sent_bytes("profiles"), 0, "{way:?}");

        let failing = World {
            mood: Mood::Failing,
            ..World::default()
        };
        let server = Server::start(way, &Arc::new(failing));
        let peers = server.peers(&settings);
        let call = peers.articles.ids_by_slugs(vec!["a-b".to_owned()]);
        assert!(in_time(call).await.is_err());
        assert!(counts.sent_bytes("articles") > 0, "{way:?}");
        assert_eq!(counts.received_bytes("articles"), 0, "{way:?}");
    }
}
