//! Prints `CONTRACT.md` from the contract's own tables:
//! `cargo run -p ferronic-contract --example page > hw/contract/CONTRACT.md`

#[path = "../tests/page/mod.rs"]
mod page;

fn main() {
    print!("{}", page::render());
}
