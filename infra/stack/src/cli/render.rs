//! `render`: an nginx configuration from variables in a file.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use stack::nginx::{RouteTable, Site, Topology, render};

/// Which configuration.
#[derive(Args, Debug)]
pub(super) struct Render {
    /// What stands behind nginx
    topology: Topology,
    /// File with the variables, in TOML
    variables: PathBuf,
}

impl Render {
    pub(super) fn run(self) -> Result<()> {
        let file = self.variables.display();
        let text = fs::read_to_string(&self.variables).with_context(|| format!("reading {file}"))?;
        let site: Site = toml::from_str(&text).with_context(|| format!("reading {file}"))?;
        let rendered = render(self.topology, &site, &RouteTable::built_in()?)?;
        std::io::stdout().write_all(rendered.as_bytes())?;
        Ok(())
    }
}
