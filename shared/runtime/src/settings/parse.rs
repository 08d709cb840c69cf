//! Reading a program's command line and variables.

use std::ffi::OsString;

use clap::{Arg, Command, FromArgMatches};

/// Reads the command line, and the variables for what it does not say. A variable that is set to nothing counts as not set: container
/// platforms set empty variables for absent ones, and clap would refuse them where a number, a path or a duration is expected.
///
/// Ends the program with a message where something is wrong, as `--help` does.
pub fn parse<S: FromArgMatches>(command: Command) -> S {
    let matches = without_empty_variables(command, variable).get_matches();
    S::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

#[allow(clippy::disallowed_methods, reason = "the settings themselves are read here")]
fn variable(name: &std::ffi::OsStr) -> Option<OsString> {
    std::env::var_os(name)
}

fn without_empty_variables(
    command: Command,
    variable: impl Fn(&std::ffi::OsStr) -> Option<OsString>,
) -> Command {
    command.mut_args(|arg: Arg| {
        let is_empty = arg
            .get_env()
            .and_then(&variable)
            .is_some_and(|value| value.is_empty());
        if is_empty { arg.env(None::<&str>) } else { arg }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_set_to_nothing_is_not_read() {
        let set = |name: &std::ffi::OsStr| match name.to_str() {
            Some("FIXTURE_EMPTY") => Some(OsString::new()),
            Some("FIXTURE_SET") => Some("x".into()),
            _ => None,
        };
        let command = Command::new("fixture")
            .arg(Arg::new("empty").env("FIXTURE_EMPTY"))
            .arg(Arg::new("set").env("FIXTURE_SET"))
            .arg(Arg::new("absent").env("FIXTURE_ABSENT"))
            .arg(Arg::new("without"));
        let command = without_empty_variables(command, set);
        let read: Vec<_> = command.get_arguments().filter_map(Arg::get_env).collect();
        assert_eq!(read, ["FIXTURE_SET", "FIXTURE_ABSENT"]);
    }
}
