//! The macro that embeds migrations sees files that change, but not files that are new.

fn main() {
    println!("cargo:rerun-if-changed=../../sql");
}
