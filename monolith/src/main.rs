//! Starts the monolith.

use anyhow::Context;
use clap::Parser;
use conduit_runtime::process::stop_signal;
use conduit_runtime::telemetry::Telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let settings = monolith::Settings::parse();
    let _telemetry = Telemetry::start(&settings.common.log)?;
    let stop = stop_signal().context("listening to signals")?;
    let monolith = monolith::build(settings).await?;
    for line in monolith.description() {
        tracing::info!("{line}");
    }
    monolith.run(stop).await
}
