//! `cargo xtask …`
fn main() {}
