//! `try`: the boxes as network namespaces of this machine.

use std::io::Write;

use anyhow::{Context, Result, bail};
use boxes::{Deployment, Inventory, Namespaces, Runner, Secrets};
use conduit_runtime::process::stop_signal;
use stack::Binaries;

pub(super) async fn run(inventory: &Inventory, build: bool) -> Result<()> {
    let stop = stop_signal().context("listening to signals")?;
    let mut stop = std::pin::pin!(stop);
    let binaries = Binaries::beside_this_program(false, build).context("finding this program")?;
    let runner = Runner::Namespaces(Box::new(Namespaces::new(binaries)?));
    let mut deployment = Deployment::new(runner, Secrets::new());
    // Dropped half-way, a start takes back what it did.
    tokio::select! {
        deployed = deployment.deploy(inventory) => deployed?,
        signal = &mut stop => bail!("stopped by {signal} before it was up"),
    }
    let mut out = std::io::stdout();
    writeln!(out, "it serves at {}", deployment.address()?)?;
    for running in deployment.running().values() {
        writeln!(out, "  {:<16} {}", running.unit().name, running.unit().public())?;
    }
    writeln!(out, "Ctrl-C stops it.")?;
    let signal = stop.await;
    writeln!(out, "stopping ({signal})")?;
    match deployment.into_runner() {
        Runner::Namespaces(namespaces) => namespaces.down().await,
        Runner::Docker(_) => Ok(()),
    }
}
