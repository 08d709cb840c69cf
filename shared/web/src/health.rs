//! Whether the process runs, and whether it can serve (contract 4.1).

use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use conduit_domain::Result;
use tokio::time::timeout;

use crate::answer::Answer;
use crate::api::System;
use crate::call::Call;

pub(crate) async fn healthz(_: &System, _: Call<'_>) -> Result<Answer> {
    Ok(status(StatusCode::OK, r#"{"status":"ok"}"#))
}

pub(crate) async fn readyz(system: &System, _: Call<'_>) -> Result<Answer> {
    // Half of what any request may take, so that a store that hangs gives the answer of this route.
    let ready = timeout(system.deadline / 2, system.readiness.ready())
        .await
        .unwrap_or(false);
    Ok(match ready {
        true => status(StatusCode::OK, r#"{"status":"ready"}"#),
        false => status(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"unavailable"}"#),
    })
}

fn status(status: StatusCode, body: &'static str) -> Answer {
    Answer::json(status, Bytes::from_static(body.as_bytes()))
}
