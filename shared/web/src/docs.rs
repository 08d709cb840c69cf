//! The description of the API, and the page to read and try it (contract 4.7). Every file comes from the program itself.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use actix_web::web::Bytes;
use conduit_domain::{Error, Result};
use utoipa_swagger_ui::{Config, SwaggerFile, serve};

use crate::answer::Answer;
use crate::api::System;
use crate::call::Call;
use crate::openapi::document;

const PAGE: &str = include_str!("docs.html");

/// The files that the page asks for; the viewer has more of them.
const ASSETS: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| Arc::new(Config::from("/openapi.json")));

pub(crate) async fn openapi(_: &System, _: Call<'_>) -> Result<Answer> {
    Ok(Answer::json(
        StatusCode::OK,
        Bytes::from_static(document()?.as_bytes()),
    ))
}

pub(crate) async fn page(_: &System, _: Call<'_>) -> Result<Answer> {
    Ok(Answer::html(PAGE))
}

pub(crate) async fn asset(_: &System, call: Call<'_>) -> Result<Answer> {
    let asset = call
        .raw_name()
        .filter(|name| ASSETS.contains(name))
        .ok_or(Error::RouteNotFound)?;
    let file = serve(asset, Arc::clone(&CONFIG))
        .ok()
        .flatten()
        .ok_or(Error::RouteNotFound)?;
    let SwaggerFile {
        bytes,
        content_type,
        gzpipped,
        ..
    } = file;
    let kind = HeaderValue::from_str(&content_type).map_err(|error| Error::Internal(Box::new(error)))?;
    let bytes = match bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    Ok(Answer::file(kind, bytes, gzpipped))
}
