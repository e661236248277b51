//! Tells the linker of systems that insist on it that Python brings its own symbols.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
