//! Compiles `proto/` without an external `protoc`. The messages also get their JSON form here, so that both transports carry the
//! same ones.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const ROOT: &str = "../../proto";
const FILES: [&str; 3] = [
    "conduit/internal/v1/users.proto",
    "conduit/internal/v1/profiles.proto",
    "conduit/internal/v1/articles.proto",
];
const DESCRIPTOR: &str = "descriptor.bin";

#[allow(
    clippy::disallowed_methods,
    reason = "cargo tells a build script where to write in a variable"
)]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={ROOT}");
    let mut compiler = protox::Compiler::new([ROOT])?;
    compiler.include_imports(true).open_files(FILES)?;
    // The compiler's own encoding keeps the comments, which reflection shows.
    fs::write(
        PathBuf::from(env::var("OUT_DIR")?).join(DESCRIPTOR),
        compiler.encode_file_descriptor_set(),
    )?;
    tonic_prost_build::configure()
        .build_client(false)
        .type_attribute(".", "#[derive(serde::Serialize, serde::Deserialize)]")
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
