//! Starts the articles service.

use anyhow::Context;
use conduit_runtime::process::stop_signal;
use conduit_runtime::telemetry::Telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let settings: conduit_articles::Settings = conduit_service::parse(3030);
    let _telemetry = Telemetry::start(&settings.service.common.log)?;
    let stop = stop_signal().context("listening to signals")?;
    let service = conduit_articles::build(settings).await?;
    for line in service.description() {
        tracing::info!("{line}");
    }
    service.run(stop).await
}
