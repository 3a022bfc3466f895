//! The reference page, rendered from the contract's tables.

use ferronic_contract::cause::Cause;
use ferronic_contract::field::Field;
use ferronic_contract::registers::{self, Access, Register};
use ferronic_contract::{completion, descriptor, ring, status};
use std::fmt::Write;

/// The whole of `CONTRACT.md`.
pub fn render() -> String {
    let mut page = String::from(
        "# The contract between core and driver\n\n\
         Printed from the crate `ferronic-contract`; a test fails when this page is stale. Print it anew with\n\n\
         \x20   cargo run -p ferronic-contract --example page > hw/contract/CONTRACT.md\n\n\
         All words are little-endian. Bits are written high:low.\n",
    );
    record(&mut page, "RX and TX descriptor, 16 bytes", &descriptor::FIELDS);
    writeln!(page, "\nTX flags: bit 0 EOP, last buffer of the frame (must be set in this version).").unwrap();
    record(&mut page, "RX completion, 32 bytes", &completion::FIELDS);
    record(&mut page, "Compact RX completion, 16 bytes", &completion::COMPACT_FIELDS);
    record(&mut page, "Status bits (word 2 of the RX completion, word 3 of the compact one)", &status::FIELDS);
    writeln!(
        page,
        "\n## Rings\n\nIndices are free-running, 16 bits. Sizes are powers of two from {} to {}.",
        1u32 << ring::MIN_LOG2,
        1u32 << ring::MAX_LOG2
    )
    .unwrap();
    group(&mut page, "Global registers", "0x0000", &registers::GLOBALS);
    group(&mut page, "Queue registers", "RX 0x1000 + 0x100 q, TX 0x2000 + 0x100 q", &registers::queue::REGISTERS);
    group(&mut page, "Vector registers", "0x3000 + 0x20 v; RX queue q has v = 2q, TX queue q has v = 2q + 1", &registers::vector::REGISTERS);
    group(&mut page, "Filter registers", "0x4000", &registers::filter::REGISTERS);
    record(&mut page, "Row of the filter table, 48 bytes", &registers::filter::ROW_FIELDS);
    writeln!(page, "\nThe MSI-X table is at {:#06x}, its pending bits at {:#06x}.", registers::MSIX_TABLE, registers::MSIX_PBA).unwrap();
    page.push_str("\n## Causes\n\n| value | a queue stops because of |\n|---|---|\n");
    for value in 0..16 {
        if let Some(cause) = Cause::from_bits(value) {
            writeln!(page, "| {value} | {cause:?} |").unwrap();
        }
    }
    page
}

fn span(field: &Field) -> String {
    match field.width {
        1 => format!("{}", field.low),
        width => format!("{}:{}", field.low + width - 1, field.low),
    }
}

fn record(page: &mut String, title: &str, fields: &[Field]) {
    writeln!(page, "\n## {title}\n\n| word | bits | name | meaning |\n|---|---|---|---|").unwrap();
    for field in fields {
        writeln!(page, "| {} | {} | {} | {} |", field.word, span(field), field.name, field.about).unwrap();
    }
}

fn group(page: &mut String, title: &str, start: &str, group: &[Register]) {
    writeln!(page, "\n## {title}\n\nFrom {start}.\n\n| offset | bits | name | access | meaning |\n|---|---|---|---|---|").unwrap();
    for register in group {
        let access = match register.access {
            Access::Ro => "read",
            Access::Rw => "read, write",
            Access::Wo => "write",
        };
        writeln!(page, "| 0x{:02X} | | **{}** | {access} | {} |", register.offset, register.name, register.about).unwrap();
        for field in register.fields {
            writeln!(page, "| | {} | {} | | {} |", span(field), field.name, field.about).unwrap();
        }
    }
}
