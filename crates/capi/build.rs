//! Names the interface's version in the shared library, so that programs find the one they need.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    match system.as_str() {
        "linux" | "freebsd" | "netbsd" | "openbsd" | "android" => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libjostle.so.1");
        }
        "macos" => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libjostle.1.dylib");
        }
        _ => {}
    }
}
