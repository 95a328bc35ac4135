//! Builds the CGI program of the web workloads. The engine contains the program, so that both are installed
//! together.
//!
//! The program is one crate without dependencies, so that the compiler alone builds it; cargo itself has no
//! stable way to put one crate's program into another.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() -> Result<(), String> {
    let of = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    let source = Path::new("../../servers/cgi/src");
    println!("cargo::rerun-if-changed={}", source.display());
    let mut compiler = Command::new(of("RUSTC")?);
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        compiler.arg(format!("-Clinker={linker}"));
    }
    let done = compiler
        .args(["--edition", "2024", "--crate-name", "sitebench_cgi", "--target", &of("TARGET")?])
        .args(["-C", "opt-level=3", "-C", "lto=fat", "-C", "codegen-units=1"])
        .args(["-C", "panic=abort", "-C", "strip=symbols", "-o"])
        .arg(Path::new(&of("OUT_DIR")?).join("sitebench-cgi"))
        .arg(source.join("main.rs"))
        .status()
        .map_err(|error| format!("cannot run the compiler: {error}"))?;
    if done.success() { Ok(()) } else { Err("the CGI program does not compile".to_owned()) }
}
