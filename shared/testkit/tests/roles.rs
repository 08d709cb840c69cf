//! Each service's role reaches its own schema and nothing else: shown by trying, as that role.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use conduit_testkit::TestDatabase;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

const OWNERS: [&str; 4] = ["users", "profiles", "articles", "comments"];
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// There is no function of ours; one of a later migration would be open to everybody unless the schema is closed.
async fn add_functions(admin: &mut PgConnection) {
    for schema in OWNERS {
        let function = format!("create function {schema}.answer() returns int language sql return 42");
        run(admin, &function).await.unwrap();
        run(
            admin,
            &format!("alter function {schema}.answer() owner to conduit_{schema}"),
        )
        .await
        .unwrap();
    }
}

async fn run(session: &mut PgConnection, statement: &str) -> sqlx::Result<()> {
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(session)
        .await
        .map(drop)
}

/// The names of the relations of these kinds.
async fn relations(admin: &mut PgConnection, schema: &str, kind: &str) -> Vec<String> {
    let statement = "select relname::text from pg_catalog.pg_class \
         where relnamespace = $1::text::regnamespace and relkind::text = $2 order by 1";
    sqlx::query_scalar(statement)
        .bind(schema)
        .bind(kind)
        .fetch_all(admin)
        .await
        .unwrap()
}

/// What nobody but the owner of the schema may do.
async fn inside(admin: &mut PgConnection, schema: &str) -> Vec<String> {
    let (tables, sequences) = (
        relations(admin, schema, "r").await,
        relations(admin, schema, "S").await,
    );
    assert!(tables.len() > 1, "{schema}: {tables:?}");
    assert_eq!(
        sequences.is_empty(),
        schema == "profiles",
        "{schema}: {sequences:?}"
    );
    let tables = tables.iter().flat_map(|table| {
        [
            format!("select from {schema}.{table}"),
            format!("select count(*) from {schema}.{table}"),
            format!("insert into {schema}.{table} default values"),
            format!("delete from {schema}.{table}"),
            format!("truncate {schema}.{table}"),
            format!("do $$ begin lock table {schema}.{table} in access share mode; end $$"),
            format!("alter table {schema}.{table} add column x int"),
            format!("drop table {schema}.{table}"),
            format!("create index on {schema}.{table} ((1))"),
        ]
    });
    let sequences = sequences.iter().flat_map(|sequence| {
        [
            format!("select last_value from {schema}.{sequence}"),
            format!("select pg_catalog.nextval('{schema}.{sequence}')"),
            format!("select pg_catalog.setval('{schema}.{sequence}', 1)"),
        ]
    });
    let others = [
        format!("select {schema}.answer()"),
        format!("create or replace function {schema}.answer() returns int language sql return 43"),
        format!("create table {schema}.more ()"),
        format!("create view {schema}.more as select 1"),
        format!("create sequence {schema}.more"),
        format!("set role conduit_{schema}"),
        format!("grant usage on schema {schema} to public"),
    ];
    tables.chain(sequences).chain(others).collect()
}

/// What no owner may do.
const ANYWHERE: [&str; 11] = [
    "create table public.more ()",
    "create function public.more() returns int language sql return 1",
    "create temporary table more ()",
    "create schema more",
    "create role more",
    "create database more",
    "set role conduit_monolith",
    "select from monolith._sqlx_migrations",
    "select pg_catalog.lo_create(0)",
    "select pg_catalog.lo_from_bytea(0, 'x')",
    "select pg_catalog.lo_creat(-1)",
];

async fn refused(session: &mut PgConnection, owner: &str, statement: &str) {
    let error = match run(session, statement).await {
        Ok(()) => panic!("conduit_{owner} may `{statement}`"),
        Err(error) => error,
    };
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    assert_eq!(
        code.as_deref(),
        Some(INSUFFICIENT_PRIVILEGE),
        "conduit_{owner}: `{statement}`: {error}"
    );
}

async fn each_owner_is_confined(database: &TestDatabase) {
    let mut admin = database.admin().await;
    add_functions(&mut admin).await;
    let mut closed = Vec::new();
    for schema in OWNERS {
        closed.push((schema, inside(&mut admin, schema).await));
    }
    for owner in OWNERS {
        let options = database.url(owner).options().unwrap();
        let mut session: PgConnection = options.connect().await.unwrap();
        let others = closed.iter().filter(|(other, _)| *other != owner);
        for statement in others.flat_map(|(_, statements)| statements) {
            refused(&mut session, owner, statement).await;
        }
        for statement in ANYWHERE {
            refused(&mut session, owner, statement).await;
        }
        for statement in own(owner) {
            run(&mut session, &statement).await.expect(&statement);
        }
        session.close().await.unwrap();
    }
}

/// The control: the same kinds of statements are good at home.
fn own(schema: &str) -> [String; 4] {
    [
        format!("select {schema}.answer()"),
        format!("create table {schema}.more ()"),
        format!("create sequence {schema}.more_numbers"),
        format!("select pg_catalog.nextval('{schema}.more_numbers')"),
    ]
}

#[tokio::test]
async fn a_service_reaches_only_its_own_schema() {
    each_owner_is_confined(&TestDatabase::without_shared_keys().await).await;
}

/// The keys across owners refer to other schemas; they must not open them.
#[tokio::test]
async fn the_keys_of_the_monolith_open_nothing() {
    each_owner_is_confined(&TestDatabase::new().await).await;
}
