//! Starts the users service.

use std::pin::pin;

use anyhow::Context;
use conduit_runtime::process::{health, stop_signal, unless_stopped};
use conduit_runtime::telemetry::Telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let settings: conduit_users::Settings = conduit_service::parse(3010);
    let common = &settings.service.common;
    if common.health {
        return Ok(health::ask(&common.http.ops_listen)?);
    }
    let telemetry = Telemetry::start(&common.log)?;
    let mut stop = pin!(stop_signal().context("listening to signals")?);
    let Some(service) = unless_stopped(&mut stop, conduit_users::build(settings)).await else {
        return Ok(());
    };
    let service = service?;
    service.watch_log(telemetry.dropped());
    for line in service.description() {
        tracing::info!("{line}");
    }
    service.run(stop).await
}
