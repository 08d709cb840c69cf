//! What runs, for people and for other processes.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::layout::Layout;

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The layout.
    pub layout: Layout,
    /// The public address, `http://127.0.0.1:3000`. Without a proxy in front of a split, each service's own in the form that
    /// conformance takes: `users=http://…,profiles=…,articles=…,comments=…`.
    pub address: String,
    /// The processes that answer, those that are asked before those that ask.
    pub services: Vec<ServiceInfo>,
    /// nginx, where it stands in front.
    pub proxy: Option<ProxyInfo>,
    /// The file with the secret that signs tokens.
    pub token_secret_file: PathBuf,
    /// The database, without its password.
    pub database: String,
    /// The file with the URL, password included, of a login that may look at everything.
    pub database_url_file: PathBuf,
    /// The folder of the logs.
    pub logs: PathBuf,
}

/// A process of ours and where it listens: each as `http://127.0.0.1:20001` or `unix:/path`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceInfo {
    /// `articles`, `articles-2`.
    pub name: String,
    /// Its process id; none while it is stopped.
    pub pid: Option<u32>,
    /// The public API.
    pub public: String,
    /// Probes and metrics.
    pub operations: String,
    /// Peers over HTTP.
    pub internal_http: Option<String>,
    /// Peers over gRPC.
    pub internal_grpc: Option<String>,
}

/// nginx.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyInfo {
    /// The master process's id; none while it is stopped.
    pub pid: Option<u32>,
    /// Its configuration.
    pub configuration: PathBuf,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.proxy, self.address.contains('=')) {
            (Some(_), _) => writeln!(
                f,
                "{} serves at {} through nginx (to read and try: {1}/docs)",
                self.layout, self.address
            )?,
            (None, false) => writeln!(f, "{} serves at {}, without a proxy", self.layout, self.address)?,
            (None, true) => writeln!(
                f,
                "{} has no proxy in front: each service serves its own routes. For conformance:\n{}",
                self.layout, self.address
            )?,
        }
        writeln!(f, "token secret: {}", self.token_secret_file.display())?;
        writeln!(
            f,
            "database:     {} (psql \"$(cat {})\")",
            self.database,
            self.database_url_file.display()
        )?;
        writeln!(f, "logs:         {}", self.logs.display())?;
        for service in &self.services {
            write!(f, "{service}")?;
        }
        if let Some(ProxyInfo { pid, configuration }) = &self.proxy {
            writeln!(
                f,
                "  {:<11} process {:<8} {}",
                "nginx",
                Pid(*pid),
                configuration.display()
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for ServiceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "  {:<11} process {:<8} {}",
            self.name,
            Pid(self.pid),
            self.public
        )?;
        write!(f, ", operations {}", self.operations)?;
        let internal = [("HTTP", &self.internal_http), ("gRPC", &self.internal_grpc)];
        for (what, address) in internal {
            if let Some(address) = address {
                write!(f, ", {what} {address}")?;
            }
        }
        writeln!(f)
    }
}

struct Pid(Option<u32>);

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.map_or("stopped".to_owned(), |pid| pid.to_string());
        f.pad(&text)
    }
}
