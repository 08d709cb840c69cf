//! Starts the monolith.

use std::pin::pin;

use anyhow::Context;
use clap::CommandFactory;
use conduit_runtime::process::{health, stop_signal, unless_stopped};
use conduit_runtime::settings;
use conduit_runtime::telemetry::Telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let settings: monolith::Settings = settings::parse(monolith::Settings::command());
    let common = &settings.common;
    if common.health {
        return Ok(health::ask(&common.http.ops_listen)?);
    }
    let telemetry = Telemetry::start(&common.log)?;
    let mut stop = pin!(stop_signal().context("listening to signals")?);
    let Some(monolith) = unless_stopped(&mut stop, monolith::build(settings)).await else {
        return Ok(());
    };
    let monolith = monolith?;
    monolith.watch_log(telemetry.dropped());
    for line in monolith.description() {
        tracing::info!("{line}");
    }
    monolith.run(stop).await
}
