//! Stops the server when this process is gone, however it went.
//!
//! A shell waits at a pipe whose other end only we hold. A server stopped in good order is told by a word; the
//! pipe's end without that word means that we were killed. (The kernel can do the same to a child, but only
//! through unsafe code, and it counts threads rather than processes.)

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// `$1`: the server, `$2`: how to stop it, `$3`: a folder to remove, or nothing. The server may still make
/// files at first; ten seconds are enough.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
read -r word
[ "$word" = stopped ] && exit 0
kill -s "$2" "$1" 2>/dev/null
tries=0
while [ -n "$3" ] && [ -e "$3" ] && [ "$tries" -lt 100 ]; do
  rm -rf -- "$3" 2>/dev/null
  tries=$((tries + 1))
  sleep 0.1
done
"#;

/// The shell that waits.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    pub(super) fn over(server: u32, temporary: Option<&Path>) -> io::Result<Self> {
        let how = if temporary.is_some() { "QUIT" } else { "INT" };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "conduit-guard", &server.to_string(), how]);
        command.arg(temporary.unwrap_or(Path::new("")));
        // Its working directory must not keep a file system or a removed folder busy.
        command
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(Self(command.process_group(0).spawn()?))
    }

    /// The server has been stopped: there is nothing left to guard, and its process id may soon be another's.
    pub(super) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            let _ = pipe.write_all(b"stopped\n");
        }
        let _ = self.0.wait();
    }
}
