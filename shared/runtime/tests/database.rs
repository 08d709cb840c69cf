//! Preparing a database: from nothing, again, all at once, with too few rights, and where there is none.

#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::time::Duration;

use conduit_runtime::database::{self, DatabaseError, DatabaseSettings, DatabaseUrl, Owner, Prepared};
use conduit_runtime::embedded::Embedded;
use secrecy::SecretString;
use sqlx::{ConnectOptions, Executor, PgConnection, Row};
use tokio::sync::OnceCell;

/// A cluster of the test's own, for those that need its roles to be missing or different.
async fn cluster() -> Embedded {
    Embedded::temporary().await.unwrap()
}

/// The cluster that the other tests share, each with a database of its own.
async fn shared() -> &'static Embedded {
    static CLUSTER: OnceCell<Embedded> = OnceCell::const_new();
    CLUSTER.get_or_init(cluster).await
}

/// As the monolith does it in its embedded cluster: the database is made, every role gets a password.
fn everything() -> DatabaseSettings {
    let passwords = Owner::ALL
        .map(|owner| (owner, SecretString::from(format!("password of {owner:?}"))))
        .to_vec();
    DatabaseSettings {
        create: true,
        passwords,
        ..DatabaseSettings::new(Owner::Monolith)
    }
}

async fn connect(url: &DatabaseUrl) -> PgConnection {
    url.options().unwrap().connect().await.unwrap()
}

async fn text(connection: &mut PgConnection, sql: &'static str) -> String {
    sqlx::query(sql).fetch_one(connection).await.unwrap().get(0)
}

async fn prepared(url: &DatabaseUrl) -> Prepared {
    database::prepare(url, &everything()).await.unwrap()
}

#[tokio::test]
async fn every_role_logs_in_to_its_own_tables() {
    let url = shared().await.url_of("every_role");
    let prepared = prepared(&url).await;
    let mut monolith = connect(prepared.url()).await;
    assert_eq!(
        text(&mut monolith, "select session_user::text").await,
        "conduit_monolith"
    );
    monolith
        .execute("select from users.accounts, profiles.follows, articles.articles, comments.comments")
        .await
        .unwrap();

    for owner in [Owner::Users, Owner::Profiles, Owner::Articles, Owner::Comments] {
        let mut service = connect(prepared.url_of(owner).unwrap()).await;
        assert_eq!(
            text(&mut service, "select session_user::text").await,
            owner.role()
        );
        assert_eq!(
            text(&mut service, "show plan_cache_mode").await,
            "force_generic_plan"
        );
        let foreign = if owner == Owner::Users {
            "select from comments.comments"
        } else {
            "select from users.accounts"
        };
        let refused = service.execute(foreign).await.unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{refused}");
    }
}

#[tokio::test]
async fn several_processes_may_prepare_at_once_and_again() {
    let url = shared().await.url_of("at_once");
    let settings = everything();
    let one = || database::prepare(&url, &settings);
    let (first, second, third, fourth) = tokio::join!(one(), one(), one(), one());
    for result in [first, second, third, fourth, one().await] {
        result.unwrap();
    }
}

#[tokio::test]
async fn a_service_prepares_its_own_tables_alone() {
    let embedded = cluster().await;
    let mut admin = connect(&embedded.url()).await;
    admin.execute("create database conduit").await.unwrap();
    let url = embedded.url_of("conduit");
    let prepared = database::prepare(&url, &DatabaseSettings::new(Owner::Users))
        .await
        .unwrap();
    let mut connection = connect(prepared.url()).await;
    connection.execute("select from users.accounts").await.unwrap();
    let others = "select from pg_catalog.pg_class
         where relnamespace::regnamespace::text in ('profiles', 'articles', 'comments')";
    assert!(
        connect(&url)
            .await
            .fetch_optional(others)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn an_administrators_login_works_as_the_role_with_its_settings() {
    let url = shared().await.url_of("administrator");
    prepared(&url).await;
    let settings = DatabaseSettings::new(Owner::Monolith);
    let prepared = database::prepare(&url, &settings).await.unwrap();
    let mut connection = connect(prepared.url()).await;
    assert_eq!(
        text(&mut connection, "select current_user::text").await,
        "conduit_monolith"
    );
    for (setting, value) in [
        ("show plan_cache_mode", "force_generic_plan"),
        ("show jit", "off"),
        ("show search_path", "\"\""),
    ] {
        assert_eq!(text(&mut connection, setting).await, value, "{setting}");
    }
}

#[tokio::test]
async fn a_roles_own_login_is_used_as_it_is() {
    let url = shared().await.url_of("own_login");
    let first = prepared(&url).await;
    let own = first.url().clone();
    let again = database::prepare(&own, &DatabaseSettings::new(Owner::Monolith))
        .await
        .unwrap();
    assert_eq!(again.url().expose(), own.expose());
}

#[tokio::test]
async fn a_role_that_may_not_make_roles_is_one_error_with_the_command() {
    let embedded = cluster().await;
    let mut admin = connect(&embedded.url()).await;
    admin
        .execute("create role ann login password 'her secret'")
        .await
        .unwrap();
    admin.execute("create database conduit owner ann").await.unwrap();
    let url = embedded
        .url_of("conduit")
        .with_login("ann", "her secret")
        .unwrap();
    let refused = database::prepare(&url, &DatabaseSettings::new(Owner::Monolith))
        .await
        .unwrap_err();
    let told = format!("{refused} {refused:?}");
    assert!(matches!(refused, DatabaseError::RolesMissing { .. }), "{told}");
    assert!(
        told.contains("dbname=conduit user=postgres\" -v ON_ERROR_STOP=1 -f sql/roles.sql"),
        "{told}"
    );
    assert!(!told.contains("her secret"), "{told}");

    prepared(&embedded.url_of("conduit")).await;
    let refused = database::prepare(&url, &DatabaseSettings::new(Owner::Monolith))
        .await
        .unwrap_err();
    assert!(matches!(refused, DatabaseError::NotMember { .. }), "{refused:?}");
    admin.execute("grant conduit_monolith to ann").await.unwrap();
    let prepared = database::prepare(&url, &DatabaseSettings::new(Owner::Monolith))
        .await
        .unwrap();
    assert_eq!(
        text(&mut connect(prepared.url()).await, "select current_user::text").await,
        "conduit_monolith"
    );
    assert_eq!(
        text(&mut connect(prepared.url()).await, "show application_name").await,
        "conduit_monolith"
    );
}

#[tokio::test]
async fn a_role_that_may_only_make_roles_is_enough_for_its_own_database() {
    let embedded = cluster().await;
    let mut admin = connect(&embedded.url()).await;
    admin
        .execute("create role manager login createrole password 'p'")
        .await
        .unwrap();
    admin
        .execute("create database conduit owner manager")
        .await
        .unwrap();
    let url = embedded.url_of("conduit").with_login("manager", "p").unwrap();
    let settings = DatabaseSettings {
        create: false,
        ..everything()
    };
    let prepared = database::prepare(&url, &settings).await.unwrap();
    connect(prepared.url())
        .await
        .execute("select from articles.articles")
        .await
        .unwrap();
}

#[tokio::test]
async fn any_text_is_a_password() {
    let embedded = cluster().await;
    let mut settings = everything();
    let password = r#"it's "quoted" \ $1 %L %25 @:/?#[] ä $$"#;
    settings.passwords = vec![(Owner::Monolith, password.into())];
    let prepared = database::prepare(&embedded.url_of("conduit"), &settings)
        .await
        .unwrap();
    assert_eq!(
        text(&mut connect(prepared.url()).await, "select session_user::text").await,
        "conduit_monolith"
    );
}

#[tokio::test]
async fn a_migration_of_a_newer_program_is_no_fault() {
    let url = shared().await.url_of("newer");
    let prepared_first = prepared(&url).await;
    connect(prepared_first.url_of(Owner::Users).unwrap())
        .await
        .execute("insert into users._sqlx_migrations values (9999, 'newer', now(), true, '', 0)")
        .await
        .unwrap();
    prepared(&url).await;
    let unmigrated = DatabaseSettings {
        migrate: false,
        ..everything()
    };
    database::prepare(&url, &unmigrated).await.unwrap();
}

#[tokio::test]
async fn without_migrations_missing_ones_are_named() {
    let url = shared().await.url_of("behind");
    let settings = DatabaseSettings {
        migrate: false,
        ..everything()
    };
    let refused = database::prepare(&url, &settings).await.unwrap_err();
    let told = refused.to_string();
    assert!(
        matches!(&refused, DatabaseError::Behind { schema: "users", missing, .. } if missing.contains(&1)),
        "{told}"
    );
    assert!(told.contains("CONDUIT_DATABASE_MIGRATE"), "{told}");
}

/// Fault B104: a wrong address shows up at once, with host and cause, without the password.
#[tokio::test]
async fn a_wrong_address_is_one_clear_error() {
    let embedded = shared().await;
    let settings = DatabaseSettings {
        wait: Duration::from_secs(2),
        ..DatabaseSettings::new(Owner::Monolith)
    };
    let right = embedded.url_of("postgres");
    let socket = embedded.socket_folder().display().to_string();
    let free_port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let cases = [
        (
            right.with_login("postgres", "s3cret").unwrap(),
            "password authentication failed",
            socket.as_str(),
        ),
        (
            right.with_database("nowhere").unwrap(),
            "database \"nowhere\" does not exist",
            socket.as_str(),
        ),
        (
            format!("postgres://ann:s3cret@127.0.0.1:{free_port}/d")
                .parse()
                .unwrap(),
            "refused",
            "127.0.0.1",
        ),
        (
            "postgres://ann:s3cret@host.invalid/d".parse().unwrap(),
            "cannot be reached",
            "host.invalid",
        ),
    ];
    for (url, cause, host) in cases {
        let refused = database::prepare(&url, &settings).await.unwrap_err();
        let told = refused.to_string();
        assert!(told.contains(cause) && told.contains(host), "{told}");
        assert!(!format!("{told} {refused:?}").contains("s3cret"), "{told}");
    }
}
