//! Stops the processes when this one is gone, however it went.
//!
//! A shell waits at a pipe whose other end only we hold, and is told which process groups are ours. The pipe's end ends them. (As
//! the guard of the embedded PostgreSQL does: what the kernel offers for this needs unsafe code and counts threads.)

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// `$1`: a folder to remove at the end. Lines are `+ group`, `- group` and `! command`, a command for the end. A stopped process hears of its end only once it goes on.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
groups= commands=
while read -r sign group; do
  case $sign in
    +) groups="$groups $group" ;;
    -) kept=
       for one in $groups; do [ "$one" = "$group" ] || kept="$kept $one"; done
       groups=$kept ;;
    !) commands="$commands
$group" ;;
  esac
done
for one in $groups; do kill -s TERM -- "-$one"; kill -s CONT -- "-$one"; done 2>/dev/null
tries=0
while [ "$tries" -lt 50 ]; do
  left=
  for one in $groups; do kill -s 0 -- "-$one" && left=yes; done 2>/dev/null
  [ -n "$left" ] || break
  tries=$((tries + 1))
  sleep 0.1
done
[ -z "$left" ] || for one in $groups; do kill -s KILL -- "-$one"; done 2>/dev/null
eval "$commands" >/dev/null 2>&1
rm -rf -- "$1"
"#;

/// The shell that waits.
#[derive(Debug)]
pub struct Guard {
    shell: Child,
    pipe: Mutex<Option<ChildStdin>>,
}

impl Guard {
    /// `run`: the folder of sockets and the like, which nobody needs any more when we are gone.
    ///
    /// # Errors
    /// There is no shell.
    pub fn start(run: &Path) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "conduit-stack-guard"])
            .arg(run)
            .current_dir("/");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut shell = command.process_group(0).spawn()?;
        let pipe = Mutex::new(shell.stdin.take());
        Ok(Self { shell, pipe })
    }

    /// What to do when all groups have ended: a line of shell, whose failure is nobody's concern.
    pub fn at_the_end(&self, command: &str) {
        self.say(&format!("! {command}\n"));
    }

    pub(crate) fn watch(&self, group: u32) {
        self.say(&format!("+ {group}\n"));
    }

    /// The group has ended, and its number may soon be another's.
    pub(crate) fn forget(&self, group: u32) {
        self.say(&format!("- {group}\n"));
    }

    fn say(&self, line: &str) {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipe) = pipe.as_mut() {
            // Without a shell there is no guard; everything else works.
            let _ = pipe.write_all(line.as_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.pipe.get_mut().map(Option::take));
        let _ = self.shell.wait();
    }
}
