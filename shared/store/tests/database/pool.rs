use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;

use conduit_domain::error::{Error, Taken};
use conduit_domain::{AccountId, NameKey, Result};
use conduit_store::db::{Db, DbSettings, PoolStatus, PoolWaits};
use conduit_store::profiles::ProfileStore;
use conduit_store::users::UserStore;
use conduit_testkit::TestDatabase;
use futures_util::FutureExt;
use futures_util::future::join_all;
use sqlx::postgres::PgConnection;
use tokio::sync::oneshot;

use crate::proxy::Proxy;

/// What only a failed test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

fn with_one_connection(database: &TestDatabase) -> DbSettings {
    DbSettings {
        connections: 1,
        ..database.settings("monolith")
    }
}

fn patient(settings: DbSettings) -> Db {
    Db::new(settings).with_limit(PATIENCE)
}

async fn backend(db: &Db) -> i32 {
    db.one(|| sqlx::query_scalar("select pg_backend_pid()"))
        .await
        .unwrap()
}

async fn echo(db: &Db, number: i32) -> Result<i32> {
    db.one(|| sqlx::query_scalar("select $1::int").bind(number)).await
}

async fn accounts(admin: &mut PgConnection) -> i64 {
    sqlx::query_scalar("select count(*) from users.accounts")
        .fetch_one(admin)
        .await
        .unwrap()
}

fn insertion(name: &str) -> sqlx::query::Query<'_, sqlx::Postgres, sqlx::postgres::PgArguments> {
    sqlx::query(
        "insert into users.accounts (username, username_key, email, email_key, password_hash, created_at, updated_at)
         values ($1, $1, $1, $1, 'none', '2026-01-01', '2026-01-01')",
    )
    .bind(name)
}

/// Ends all sessions of the application in this database and returns how many there were.
async fn kill_all(admin: &mut PgConnection) -> usize {
    sqlx::query_scalar::<_, bool>(
        "select pg_terminate_backend(pid, 60000)
         from pg_stat_activity
         where datname = current_database()
           and usename like 'conduit\\_%'",
    )
    .fetch_all(admin)
    .await
    .unwrap()
    .into_iter()
    .filter(|&ended| ended)
    .count()
}

/// Asks until the answer is yes.
async fn until_true(admin: &mut PgConnection, question: &'static str) {
    let asking = async {
        while !sqlx::query_scalar::<_, bool>(question)
            .fetch_one(&mut *admin)
            .await
            .unwrap()
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect(question);
}

/// Opens every connection of the pool.
async fn fill(db: &Db, connections: usize) {
    let transactions = join_all((0..connections).map(|_| db.begin())).await;
    for transaction in transactions {
        transaction.unwrap().roll_back().await.unwrap();
    }
    assert_eq!(
        db.status(),
        PoolStatus {
            size: connections,
            available: connections,
            waiting: 0
        }
    );
}

#[tokio::test]
async fn one_connection_serves_one_statement_after_the_other() {
    let database = TestDatabase::new().await;
    let db = patient(with_one_connection(&database));
    assert_eq!(
        db.status(),
        PoolStatus {
            size: 0,
            available: 0,
            waiting: 0
        }
    );
    let first = backend(&db).await;
    assert_eq!(
        join_all((0..50).map(|n| echo(&db, n)))
            .await
            .into_iter()
            .map(Result::unwrap)
            .sum::<i32>(),
        1225
    );
    let many: Vec<i32> = db
        .all(|| sqlx::query_scalar("select generate_series(1, 1000)"))
        .await
        .unwrap();
    assert_eq!(many.len(), 1000);
    let none: Option<i32> = db
        .optional(|| sqlx::query_scalar("select 1 where false"))
        .await
        .unwrap();
    assert_eq!(none, None);
    assert!(matches!(
        db.one(|| sqlx::query_scalar::<_, i32>("select 1 where false"))
            .await,
        Err(Error::Internal(_))
    ));
    assert!(db.ready().await);
    assert_eq!(backend(&db).await, first);
}

#[tokio::test]
async fn who_gets_no_connection_at_once_is_counted() {
    let database = TestDatabase::new().await;
    let db = patient(DbSettings {
        // No pings, which are waited for, too.
        idle_ping_after: PATIENCE * 60,
        ..with_one_connection(&database)
    });
    assert_eq!(db.waits(), PoolWaits::default());
    fill(&db, 1).await;
    let opened = db.waits();
    assert_eq!(opened.count, 1, "a connection has to be opened");
    assert!(opened.total > Duration::ZERO);

    assert_eq!(echo(&db, 1).await.unwrap(), 1);
    let held = db.begin().await.unwrap();
    assert_eq!(db.waits(), opened, "it was idle");

    let mut second = pin!(echo(&db, 2));
    assert!(second.as_mut().now_or_never().is_none());
    assert_eq!(db.waits().count, 2);
    assert_eq!(db.waits().total, opened.total, "it still waits");
    held.roll_back().await.unwrap();
    assert_eq!(second.await.unwrap(), 2);
    let served = db.waits();
    assert_eq!(served.count, 2);
    assert!(served.total > opened.total);

    let held = db.begin().await.unwrap();
    assert!(echo(&db, 3).now_or_never().is_none());
    assert_eq!(db.waits().count, 3);
    assert!(db.waits().total > served.total, "who goes away has waited");
    held.roll_back().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_killed_under_load_cost_no_read() {
    let database = TestDatabase::new().await;
    let db = patient(database.settings("monolith"));
    let mut admin = database.admin().await;
    for _ in 0..5 {
        fill(&db, 4).await;
        let (stop, stopped) = oneshot::channel();
        let load = tokio::spawn(read_until(db.clone(), stopped));
        until_true(
            &mut admin,
            "select count(*) = 4
             from pg_stat_activity
             where datname = current_database()
               and query = 'select $1::int'",
        )
        .await;
        assert!(kill_all(&mut admin).await > 0);
        // The reads of after the kill run on new sessions.
        until_true(
            &mut admin,
            "select count(*) = 4
             from pg_stat_activity
             where datname = current_database()
               and query = 'select $1::int'",
        )
        .await;
        stop.send(()).unwrap();
        assert!(load.await.unwrap() > 0);
    }
}

/// Reads eight at a time until told to stop, each with its own answer.
async fn read_until(db: Db, mut stopped: oneshot::Receiver<()>) -> i32 {
    let mut number = 0;
    // Bounded, in case nobody says so.
    while number < 1_000_000 && stopped.try_recv().is_err() {
        let numbers = number..number + 8;
        let answers: Result<Vec<_>> = join_all(numbers.clone().map(|n| echo(&db, n)))
            .await
            .into_iter()
            .collect();
        assert_eq!(answers.unwrap(), numbers.collect::<Vec<_>>());
        number += 8;
    }
    number
}

#[tokio::test]
async fn after_a_restart_reads_are_sent_again_and_writes_are_not() {
    let database = TestDatabase::new().await;
    let db = patient(database.settings("monolith"));
    let mut admin = database.admin().await;

    fill(&db, 4).await;
    assert_eq!(kill_all(&mut admin).await, 4);
    assert_eq!(echo(&db, 1).await.unwrap(), 1);
    // The read has found out for all of them.
    db.execute(insertion("ann")).await.unwrap();

    fill(&db, 4).await;
    assert_eq!(kill_all(&mut admin).await, 4);
    let outcome = db.execute(insertion("ben")).await;
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
    assert_eq!(accounts(&mut admin).await, 1);
    db.execute(insertion("ben")).await.unwrap();

    fill(&db, 4).await;
    assert_eq!(kill_all(&mut admin).await, 4);
    let transaction = db.begin().await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(accounts(&mut admin).await, 2);
}

#[tokio::test]
async fn a_read_that_keeps_breaking_is_given_up_after_the_second_time() {
    let database = TestDatabase::new().await;
    let db = patient(database.settings("monolith"));
    let tries = Cell::new(0);
    let outcome = db
        .optional(|| {
            tries.set(tries.get() + 1);
            sqlx::query_scalar::<_, bool>("select pg_terminate_backend(pg_backend_pid())")
        })
        .await;
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
    assert_eq!(tries.get(), 2);
    assert_eq!(echo(&db, 1).await.unwrap(), 1);
}

#[tokio::test]
async fn rows_that_came_before_the_break_forbid_a_second_try() {
    let database = TestDatabase::new().await;
    let db = patient(with_one_connection(&database));
    let tries = Cell::new(0);
    let outcome = db
        .all(|| {
            tries.set(tries.get() + 1);
            // So many rows that the first are sent before the session ends itself.
            sqlx::query_scalar::<_, String>(
                "select case when n < 1000 then repeat('x', 1000) else pg_terminate_backend(pg_backend_pid())::text end
                 from generate_series(1, 1001) n",
            )
        })
        .await;
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
    assert_eq!(tries.get(), 1);
    assert_eq!(echo(&db, 1).await.unwrap(), 1);
}

#[tokio::test]
async fn a_cancelled_statement_closes_its_connection() {
    let database = TestDatabase::new().await;
    let db = patient(with_one_connection(&database));
    let first = backend(&db).await;
    let mut admin = database.admin().await;
    sqlx::query("select pg_advisory_lock(1)")
        .execute(&mut admin)
        .await
        .unwrap();
    let waiting = db.one(|| sqlx::query_scalar::<_, i32>("select 41 from pg_advisory_lock(1)"));
    tokio::select! {
        biased;
        outcome = waiting => panic!("{outcome:?}"),
        () = until_true(&mut admin, "select count(*) = 1 from pg_locks where locktype = 'advisory' and not granted") => {}
    }
    assert_eq!(db.status().size, 0);
    assert_eq!(echo(&db, 42).await.unwrap(), 42);
    assert_ne!(backend(&db).await, first);
}

#[tokio::test]
async fn a_cancelled_transaction_leaves_nothing_behind() {
    let database = TestDatabase::new().await;
    let db = patient(with_one_connection(&database));
    let mut admin = database.admin().await;
    sqlx::query("select pg_advisory_lock(1)")
        .execute(&mut admin)
        .await
        .unwrap();
    let writing = async {
        let mut transaction = db.begin().await?;
        transaction.execute(insertion("ann")).await?;
        transaction
            .execute(sqlx::query("select pg_advisory_xact_lock(1)"))
            .await?;
        transaction.commit().await
    };
    tokio::select! {
        biased;
        outcome = writing => panic!("{outcome:?}"),
        () = until_true(&mut admin, "select count(*) = 1 from pg_locks where locktype = 'advisory' and not granted") => {}
    }
    // The pool does not wait for the server to notice.
    assert_eq!(echo(&db, 42).await.unwrap(), 42);
    sqlx::query("select pg_advisory_unlock(1)")
        .execute(&mut admin)
        .await
        .unwrap();
    until_true(
        &mut admin,
        "select count(*) = 0
         from pg_stat_activity
         where datname = current_database()
           and usename = 'conduit_monolith'
           and state <> 'idle'",
    )
    .await;
    assert_eq!(accounts(&mut admin).await, 0);
}

#[tokio::test]
async fn a_dropped_transaction_is_undone_and_its_connection_closed() {
    let database = TestDatabase::new().await;
    let db = patient(with_one_connection(&database));
    let first = backend(&db).await;
    let mut transaction = db.begin().await.unwrap();
    assert_eq!(transaction.execute(insertion("ann")).await.unwrap(), 1);
    drop(transaction);
    assert_ne!(backend(&db).await, first);
    let mut admin = database.admin().await;
    until_true(
        &mut admin,
        "select count(*) = 0
         from pg_stat_activity
         where datname = current_database()
           and state like 'idle in transaction%'",
    )
    .await;
    assert_eq!(accounts(&mut admin).await, 0);
}

#[tokio::test]
async fn a_transaction_that_ends_keeps_its_connection() {
    let database = TestDatabase::new().await;
    let db = patient(with_one_connection(&database));
    let first = backend(&db).await;
    let mut transaction = db.begin().await.unwrap();
    transaction.execute(insertion("ann")).await.unwrap();
    transaction.commit().await.unwrap();
    let mut transaction = db.begin().await.unwrap();
    transaction.execute(insertion("ben")).await.unwrap();
    transaction.roll_back().await.unwrap();
    assert_eq!(accounts(&mut database.admin().await).await, 1);
    assert_eq!(backend(&db).await, first);
}

#[tokio::test]
async fn a_transaction_with_a_failed_statement_cannot_be_committed() {
    let database = TestDatabase::new().await;
    let db = patient(with_one_connection(&database));
    let mut transaction = db.begin().await.unwrap();
    transaction.execute(insertion("ann")).await.unwrap();
    let refused = transaction.execute(insertion("ann")).await;
    assert!(
        matches!(refused, Err(Error::Taken(Taken { username: true, .. }))),
        "{refused:?}"
    );
    let outcome = transaction.commit().await;
    assert!(matches!(outcome, Err(Error::Internal(_))), "{outcome:?}");
    assert_eq!(accounts(&mut database.admin().await).await, 0);
}

#[tokio::test]
async fn a_refused_statement_leaves_the_connection_as_it_was() {
    let database = TestDatabase::new().await;
    let db = patient(with_one_connection(&database));
    let first = backend(&db).await;
    db.execute(insertion("ann")).await.unwrap();
    let refused = db.execute(insertion("ann")).await;
    assert!(matches!(refused, Err(Error::Taken(_))), "{refused:?}");
    let wrong = db.one(|| sqlx::query_scalar::<_, i32>("select 1 / 0")).await;
    assert!(matches!(wrong, Err(Error::Internal(_))), "{wrong:?}");
    assert_eq!(echo(&db, 42).await.unwrap(), 42);
    assert_eq!(backend(&db).await, first);
}

#[tokio::test]
async fn the_wait_for_a_connection_is_bounded() {
    let database = TestDatabase::new().await;
    for wait in [Duration::ZERO, Duration::from_millis(1)] {
        let db = patient(DbSettings {
            wait,
            ..with_one_connection(&database)
        });
        let transaction = db.begin().await.unwrap();
        let outcome = echo(&db, 1).await;
        assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
        transaction.roll_back().await.unwrap();
        assert_eq!(echo(&db, 1).await.unwrap(), 1);
    }
}

#[tokio::test]
async fn a_connection_that_is_slow_to_open_holds_up_nobody_but_who_opens_it() {
    let database = TestDatabase::new().await;
    let direct = database.settings("monolith");
    let proxy = Proxy::start(&direct.options);
    let db = patient(DbSettings {
        options: proxy.options(direct.options.clone()),
        connections: 4,
        ..direct
    });
    let transaction = db.begin().await.unwrap();
    proxy.hold_up_newcomers();
    let mut opens = Box::pin(echo(&db, 0));
    tokio::select! {
        outcome = &mut opens => panic!("there was a connection: {outcome:?}"),
        () = proxy.have_come(2) => {}
    }
    // Nobody of these opens another one; they get the first when it is free.
    let others = (1..4).map(|number| echo(&db, number));
    let (outcome, answers) = tokio::join!(transaction.roll_back(), join_all(others));
    outcome.unwrap();
    for (answer, number) in answers.into_iter().zip(1..) {
        assert_eq!(answer.unwrap(), number);
    }
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_given_up() {
    let database = TestDatabase::new().await;
    let settings = with_one_connection(&database);
    let by_server = DbSettings {
        options: settings.options.clone().options([("statement_timeout", "20")]),
        ..settings
    };
    let db = patient(by_server);
    let first = backend(&db).await;
    let outcome = db.execute(sqlx::query("select pg_sleep(60)")).await;
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
    assert_eq!(backend(&db).await, first);

    let db = patient(with_one_connection(&database));
    let first = backend(&db).await;
    let outcome = db
        .clone()
        .with_limit(Duration::from_millis(20))
        .execute(sqlx::query("select pg_sleep(60)"))
        .await;
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
    assert_ne!(backend(&db).await, first);
}

#[tokio::test]
async fn a_connection_that_has_been_idle_is_pinged_before_a_write_gets_it() {
    let database = TestDatabase::new().await;
    let always = DbSettings {
        idle_ping_after: Duration::ZERO,
        ..database.settings("monolith")
    };
    let db = patient(always);
    let mut admin = database.admin().await;
    fill(&db, 4).await;
    assert_eq!(kill_all(&mut admin).await, 4);
    db.execute(insertion("ann")).await.unwrap();
    assert_eq!(accounts(&mut admin).await, 1);
    let first = backend(&db).await;
    assert_eq!(backend(&db).await, first);
}

#[tokio::test]
async fn a_ping_without_an_answer_is_given_up() {
    let database = TestDatabase::new().await;
    let settings = with_one_connection(&database);
    let proxy = Proxy::start(&settings.options);
    let options = proxy.options(settings.options.clone());
    let connect_timeout = Duration::from_millis(300);
    // Only the ping's own limit can end it.
    let db = Db::new(DbSettings {
        options,
        connect_timeout,
        idle_ping_after: Duration::ZERO,
        ..settings
    })
    .with_limit(PATIENCE * 10);
    let writing = async {
        // Connecting itself may take longer than the limit where the machine is busy.
        while echo(&db, 1).await.is_err() {}
        proxy.silence();
        while db.execute(insertion("ann")).await.is_err() {}
    };
    tokio::time::timeout(PATIENCE, writing).await.unwrap();
    assert_eq!(accounts(&mut database.admin().await).await, 1);
}

#[tokio::test]
async fn a_statement_costs_one_round_trip() {
    let database = TestDatabase::new().await;
    let settings = with_one_connection(&database);
    let proxy = Proxy::start(&settings.options);
    let db = patient(DbSettings {
        options: proxy.options(settings.options.clone()),
        ..settings
    });
    let users = UserStore::new(db.clone());
    let name = NameKey::of("ann").unwrap();
    // The first time, statements are prepared.
    for times in [0, 1, 3] {
        let before = proxy.answers();
        for _ in 0..times {
            assert_eq!(echo(&db, 42).await.unwrap(), 42);
            assert_eq!(users.credentials(&name).await.unwrap(), None);
            assert!(!users.taken(Some(&name), Some(&name), None).await.unwrap().any());
        }
        let cost = proxy.answers() - before;
        match times {
            1 => assert!(cost >= 6, "{cost}"),
            _ => assert_eq!(cost, 3 * times),
        }
    }
}

#[tokio::test]
async fn no_database_is_unavailable() {
    let database = TestDatabase::new().await;
    let nowhere = database.settings("monolith").options.database("no_such_database");
    let db = patient(DbSettings {
        options: nowhere,
        ..database.settings("monolith")
    });
    assert!(!db.ready().await);
    let outcome = ProfileStore::new(db).follow(AccountId(1), AccountId(2)).await;
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
}
