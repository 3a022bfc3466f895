//! `CONTRACT.md` says what the code says.

mod page;

#[test]
fn contract_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/CONTRACT.md");
    let committed = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(
        committed == page::render(),
        "{path} is stale; print it anew: cargo run -p ferronic-contract --example page > hw/contract/CONTRACT.md"
    );
}
