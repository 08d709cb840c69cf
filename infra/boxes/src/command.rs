//! Commands of other programs: run, or written down.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::secrets::Secrets;

/// One command.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    program: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    input: Option<String>,
}

impl Step {
    pub(crate) fn new(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            input: None,
        }
    }

    pub(crate) fn and(mut self, arguments: &[&str]) -> Self {
        self.arguments
            .extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this at its standard input.
    pub(crate) fn reading(mut self, input: &str) -> Self {
        self.input = Some(input.to_owned());
        self
    }

    /// As one types it.
    fn line(&self) -> String {
        let variables = self
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={}", shell(value)));
        let arguments = self.arguments.iter().map(|argument| shell(argument));
        variables
            .chain([self.program.clone()])
            .chain(arguments)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// What stands between single quotes means itself.
fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,{}".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Runs commands, or writes them down and does nothing.
#[derive(Debug)]
pub(crate) struct Shell {
    dry: bool,
    transcript: String,
    hidden: Vec<(String, String)>,
    seen: BTreeSet<String>,
}

impl Shell {
    pub(crate) fn new(dry: bool) -> Self {
        Self {
            dry,
            transcript: String::new(),
            hidden: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    pub(crate) fn is_dry(&self) -> bool {
        self.dry
    }

    pub(crate) fn transcript(&self) -> &str {
        &self.transcript
    }

    /// From now on words stand for these in what is written down.
    pub(crate) fn hide(&mut self, secrets: &Secrets) {
        self.hidden = secrets
            .words()
            .into_iter()
            .map(|(secret, word)| (secret.to_owned(), word))
            .collect();
    }

    /// Whether this was asked before; the first time it was not.
    pub(crate) fn has_seen(&mut self, what: &str) -> bool {
        !self.seen.insert(what.to_owned())
    }

    /// A file that would be written.
    pub(crate) fn show_file(&mut self, path: &Path, text: &str) {
        self.note(&format!("# {}\n{}", path.display(), indented(text)));
    }

    /// Runs it; its output.
    pub(crate) fn run(&mut self, step: &Step) -> Result<String> {
        let input = step
            .input
            .as_deref()
            .map(|input| format!(" <<'END'\n{}END\n", ended(input)));
        self.note(&format!(
            "$ {}{}",
            step.line(),
            input.unwrap_or_else(|| "\n".to_owned())
        ));
        if self.dry {
            return Ok(String::new());
        }
        output_of(step)
    }

    /// Runs what changes nothing; its output. Written down it is too long a list.
    pub(crate) fn ask(&mut self, step: &Step) -> Result<String> {
        if self.dry {
            return Ok(String::new());
        }
        output_of(step)
    }

    fn note(&mut self, text: &str) {
        let shown = self
            .hidden
            .iter()
            .fold(text.to_owned(), |text, (secret, word)| text.replace(secret, word));
        let _ = write!(self.transcript, "{shown}");
    }
}

fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("#   {line}\n")).collect()
}

fn output_of(step: &Step) -> Result<String> {
    let name = format!("{} {}", step.program, step.arguments.join(" "));
    let mut command = Command::new(&step.program);
    command
        .args(&step.arguments)
        .envs(step.variables.iter().map(|(name, value)| (name, value)));
    let input = if step.input.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("running {}", step.program))?;
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), &step.input) {
        // Whoever does not read it to its end says why.
        let _ = pipe.write_all(text.as_bytes());
    }
    let output = child
        .wait_with_output()
        .with_context(|| format!("running {}", step.program))?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "`{name}` failed ({}): {}",
        output.status,
        told.trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_means_to_a_shell_what_was_meant() {
        let step = Step::new("docker").and(&["exec", "a b", "it's"]).with("X", "$1");
        assert_eq!(step.line(), r"X='$1' docker exec 'a b' 'it'\''s'");
    }

    #[test]
    fn what_fails_is_quoted() {
        let mut shell = Shell::new(false);
        let step = Step::new("sh")
            .and(&["-c", "cat; echo no >&2; exit 3"])
            .reading("x");
        let told = shell.run(&step).unwrap_err().to_string();
        assert!(told.contains("no") && told.contains('3'), "{told}");
        assert_eq!(shell.run(&Step::new("cat").reading("x")).unwrap(), "x");
    }
}
