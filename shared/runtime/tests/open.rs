//! A program's database, given or its own.

#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use clap::Parser;
use conduit_runtime::database::Owner;
use conduit_runtime::embedded::Embedded;
use conduit_runtime::settings::{DataArgs, DatabaseArgs, TokenArgs};
use conduit_runtime::{Database, OpenError};
use secrecy::ExposeSecret;
use sqlx::{ConnectOptions, Executor};

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    token: TokenArgs,
}

/// The settings with these flags; what the shell has set does not count.
fn program(database_url: &str, data: &str) -> Program {
    let words = [
        "program",
        "--database-url",
        database_url,
        "--token-secret",
        "",
        "--data-dir",
        data,
    ];
    Program::try_parse_from(words).unwrap()
}

async fn open(program: &Program) -> Result<Database, OpenError> {
    Database::open(&program.database, &program.data, Owner::Monolith).await
}

#[tokio::test]
async fn an_own_database_keeps_its_data_and_its_secret() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), Permissions::from_mode(0o711)).unwrap();
    let program = program("", home.path().to_str().unwrap());
    let insert = "insert into users.accounts (username, username_key, email, email_key, password_hash, created_at, updated_at)
         values ('ann', 'ann', 'a@b', 'a@b', '', now(), now())";
    let mut secrets = Vec::new();
    for expected in [0, 1] {
        let database = open(&program).await.unwrap();
        let mut connection = database.url().options().unwrap().connect().await.unwrap();
        let accounts: i64 = sqlx::query_scalar("select count(*) from users.accounts")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(accounts, expected);
        connection.execute(insert).await.map(drop).unwrap_or_default();
        secrets.push(
            program
                .token
                .secrets(database.development_secret().as_deref())
                .unwrap(),
        );
        assert!(
            database.description().contains(home.path().to_str().unwrap()),
            "{}",
            database.description()
        );
        assert!(
            database.description().contains("DATABASE_URL"),
            "{}",
            database.description()
        );
        database.close().await.unwrap();
    }
    assert_eq!(
        secrets[0].current.expose_secret(),
        secrets[1].current.expose_secret()
    );
    let kept = fs::read_to_string(secrets[0].kept_in.as_ref().unwrap()).unwrap();
    assert_eq!(kept.trim_end(), secrets[0].current.expose_secret());
}

#[tokio::test]
async fn a_given_database_is_used_and_wants_its_own_secret() {
    let embedded = Embedded::temporary().await.unwrap();
    let program = program(embedded.url().expose(), "/nowhere");
    let database = open(&program).await.unwrap();
    database
        .url()
        .options()
        .unwrap()
        .connect()
        .await
        .unwrap()
        .execute("select from articles.articles")
        .await
        .unwrap();
    assert!(database.development_secret().is_none());
    let refused = program
        .token
        .secrets(database.development_secret().as_deref())
        .unwrap_err();
    assert!(
        refused.to_string().contains("CONDUIT_TOKEN_SECRET is missing"),
        "{refused}"
    );
    let shown = format!("{} {database:?}", database.description());
    let password = fs::read_to_string(embedded.folder().join("superuser-password")).unwrap();
    assert!(!shown.contains(password.trim()), "{shown}");
    database.close().await.unwrap();
}
