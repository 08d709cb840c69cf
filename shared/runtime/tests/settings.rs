//! The groups of settings as one program has them.

#![allow(clippy::unwrap_used, missing_docs)]

use clap::{CommandFactory, Parser};
use conduit_runtime::settings::{DataArgs, DatabaseArgs, HttpArgs, LogArgs, TokenArgs};

#[derive(Parser, Debug)]
struct Program {
    #[command(flatten)]
    http: HttpArgs,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    token: TokenArgs,
    #[command(flatten)]
    log: LogArgs,
}

#[test]
fn every_setting_has_a_variable_and_its_help() {
    let command = Program::command();
    command.clone().debug_assert();
    for argument in command
        .get_arguments()
        .filter(|argument| argument.get_id() != "help")
    {
        let variable = argument
            .get_env()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        assert!(
            ["CONDUIT_", "DATABASE_URL", "RUST_LOG", "OTEL_"]
                .iter()
                .any(|name| variable.starts_with(name)),
            "{argument:?}"
        );
        assert!(argument.get_help().is_some(), "{argument:?}");
    }
    let help = Program::command().render_long_help().to_string();
    for text in [
        "[default: 127.0.0.1:3000]",
        "[default: 60days]",
        "[default: 4s]",
        "CONDUIT_TOKEN_SECRET_FILE",
    ] {
        assert!(help.contains(text), "{text} is not in\n{help}");
    }
}

#[test]
fn secrets_are_shown_nowhere() {
    let url = "postgres://ann:s3cret@h:5432/d";
    let words = [
        "program",
        "--database-url",
        url,
        "--token-secret",
        "s3cret",
        "--database-users-password",
        "s3cret",
    ];
    let program = Program::try_parse_from(words).unwrap();
    assert!(!format!("{program:?}").contains("s3cret"));
    let told = program.token.secrets(None).unwrap_err();
    assert!(!format!("{told} {told:?}").contains("s3cret"));
    let wrong = Program::try_parse_from(["program", "--database-url", "mysql://ann:s3cret@h/d"]).unwrap();
    let told = wrong.database.url().unwrap_err();
    assert!(!format!("{told} {told:?}").contains("s3cret"));
    assert!(
        told.to_string().contains("DATABASE_URL is not a database URL"),
        "{told}"
    );
}

#[test]
fn a_url_may_come_from_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "postgres://ann:s3cret@h:5432/d\n").unwrap();
    let path = file.path().to_str().unwrap();
    let program =
        Program::try_parse_from(["program", "--database-url", "", "--database-url-file", path]).unwrap();
    assert_eq!(
        program.database.url().unwrap().unwrap().to_string(),
        "ann@h:5432/d"
    );
}
