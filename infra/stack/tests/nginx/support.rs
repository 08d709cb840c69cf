//! An nginx of the test's own, services that write down what they are asked, and a client that sends bytes.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use conduit_testkit::skip;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use stack::nginx::{self, Copy, RouteTable, Site, Topology};
use tempfile::TempDir;

/// Against tests that hang.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const SERVICES: [&str; 4] = ["users", "profiles", "articles", "comments"];

/// The program, or a word about what is not tested.
pub(crate) fn program() -> Option<PathBuf> {
    let program = nginx::installed();
    if program.is_none() {
        skip("nginx is not installed (Debian's package is nginx), so its configuration is not tried");
    }
    program
}

/// What a service does with a request once it has read it.
#[derive(Clone, Copy)]
pub(crate) enum Manner {
    /// Answers 200 with its own name.
    Answers,
    /// Closes the connection.
    BreaksOff,
    /// Says nothing.
    IsSilent,
}

/// A service that writes down what it is asked.
pub(crate) struct Service {
    pub(crate) address: String,
    asked: Receiver<Asked>,
}

/// A request as the service got it.
#[derive(Debug)]
pub(crate) struct Asked {
    /// `GET /api/tags HTTP/1.1`, and the headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }
}

impl Service {
    pub(crate) fn start(name: &'static str, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (note, asked) = channel();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let note = note.clone();
                std::thread::spawn(move || serve(connection, name, manner, &note));
            }
        });
        Self { address, asked }
    }

    /// All requests since the last call.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.try_iter().collect()
    }
}

fn serve(mut connection: TcpStream, name: &str, manner: Manner, note: &Sender<Asked>) {
    let mut held = Vec::new();
    while let Some(asked) = read_request(&mut connection, &mut held) {
        let head_only = asked.line().starts_with("HEAD ");
        // The note comes before the answer, so that whoever has the answer finds the note.
        let _ = note.send(asked);
        match manner {
            Manner::BreaksOff => return,
            Manner::IsSilent => {
                let _ = connection.read(&mut [0]);
                return;
            }
            Manner::Answers => {
                let length = name.len();
                let body = if head_only { "" } else { name };
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
                if connection.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        }
    }
}

fn read_request(connection: &mut TcpStream, held: &mut Vec<u8>) -> Option<Asked> {
    let mut buffer = [0; 65536];
    let end = loop {
        if let Some(at) = held.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break at + 4;
        }
        let read = connection.read(&mut buffer).ok().filter(|&read| read > 0)?;
        held.extend_from_slice(&buffer[..read]);
    };
    let head = String::from_utf8_lossy(&held[..end]).into_owned();
    let length: usize = header(&head, "content-length").map_or(0, |text| text.parse().unwrap());
    while held.len() < end + length {
        let read = connection.read(&mut buffer).ok().filter(|&read| read > 0)?;
        held.extend_from_slice(&buffer[..read]);
    }
    let body = held[end..end + length].to_vec();
    held.drain(..end + length);
    Some(Asked { head, body })
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines
        .find(|(found, _)| found.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

/// An address at which nobody listens.
pub(crate) fn nobody() -> String {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string()
}

/// One answering service for each of the split, by name.
pub(crate) fn split() -> BTreeMap<&'static str, Service> {
    SERVICES
        .map(|name| (name, Service::start(name, Manner::Answers)))
        .into()
}

pub(crate) fn one_each(services: &BTreeMap<&'static str, Service>) -> BTreeMap<String, Vec<Copy>> {
    let copies = services.iter();
    copies
        .map(|(name, service)| ((*name).to_owned(), vec![Copy::new(&service.address)]))
        .collect()
}

pub(crate) fn monoliths(addresses: &[&str]) -> BTreeMap<String, Vec<Copy>> {
    let copies = addresses.iter().map(|address| Copy::new(*address)).collect();
    [("monolith".to_owned(), copies)].into()
}

/// A folder that nginx's own account may enter.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
    folder
}

/// A certificate of our own making, and its key.
pub(crate) fn certificate(folder: &Path) -> (PathBuf, PathBuf) {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let mut openssl = Command::new("openssl");
    openssl.args("req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout".split(' '));
    openssl.arg(&key).arg("-out").arg(&certificate);
    let made = openssl.output().expect("openssl is not installed");
    assert!(made.status.success());
    (certificate, key)
}

/// A running nginx; it stops when the value goes.
pub(crate) struct Front {
    child: Child,
    pub(crate) address: String,
    _folder: TempDir,
}

impl Front {
    pub(crate) fn start(
        program: &PathBuf,
        topology: Topology,
        services: BTreeMap<String, Vec<Copy>>,
        change: impl Fn(&mut Site),
    ) -> Self {
        let folder = folder();
        let configuration = folder.path().join("nginx.conf");
        let mut site = Site::new("", folder.path(), services);
        site.account = nginx::worker_account();
        site.workers = Some(1);
        site.connections = 256;
        change(&mut site);
        // A port can be taken between our look and nginx's start.
        for _ in 0..20 {
            let address = nobody();
            site.listen = vec![address.clone()];
            let text = nginx::render(topology, &site, &RouteTable::built_in().unwrap()).unwrap();
            fs::write(&configuration, text).unwrap();
            let log = folder.path().join("first.log");
            let mut command = Command::new(program);
            command
                .args(nginx::arguments(&configuration, folder.path(), &log))
                .args(["-g", "daemon off;"]);
            command
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .process_group(0);
            let mut child = command.spawn().unwrap();
            if answers(&mut child, &address) {
                return Self {
                    child,
                    address,
                    _folder: folder,
                };
            }
        }
        panic!("nginx does not start");
    }

    /// What comes back for these bytes, up to the end of the connection.
    pub(crate) fn send(&self, bytes: impl AsRef<[u8]>) -> Answer {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        // Refused half-way, the rest may find nobody.
        let _ = connection.write_all(bytes.as_ref());
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).unwrap();
        let _ = connection.shutdown(Shutdown::Both);
        Answer::new(&answer)
    }

    /// The error that comes back for these bytes where a client does not bear a break: it sends everything, and only then reads.
    pub(crate) fn send_all(&self, bytes: &[u8]) -> Answer {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection.set_write_timeout(Some(PATIENCE)).unwrap();
        connection.write_all(bytes).unwrap();
        let (mut answer, mut part) = (Vec::new(), [0; 4096]);
        // nginx goes on reading for seconds, so the end of the connection is not waited for.
        while !answer.ends_with(b"\"]}}") {
            let read = connection.read(&mut part).unwrap();
            assert_ne!(read, 0, "closed after {:?}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&part[..read]);
        }
        Answer::new(&answer)
    }

    /// A request with nothing special about it.
    pub(crate) fn ask(&self, method: &str, target: &str) -> Answer {
        let length = if matches!(method, "POST" | "PUT") {
            "content-length: 2\r\n"
        } else {
            ""
        };
        let body = if length.is_empty() { "" } else { "{}" };
        self.send(format!(
            "{method} {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{length}\r\n{body}"
        ))
    }
}

/// Waits until the port answers or nginx has given up.
fn answers(child: &mut Child, address: &str) -> bool {
    loop {
        if TcpStream::connect(address).is_ok() {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let group = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

/// An answer in pieces.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    pub(crate) fn headers(&self, name: &str) -> usize {
        let names = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        names
            .filter(|(found, _)| found.eq_ignore_ascii_case(name))
            .count()
    }
}
