//! Fields do not overlap; encode and decode are inverse.

use ferronic_contract::completion::{self, RxCompletion};
use ferronic_contract::descriptor::{self, RxDescriptor, TxDescriptor};
use ferronic_contract::field::Field;
use ferronic_contract::registers::{self, Register};
use ferronic_contract::status::{self, Status};
use proptest::prelude::*;

fn assert_disjoint(what: &str, fields: &[Field]) {
    for (i, a) in fields.iter().enumerate() {
        for b in &fields[i + 1..] {
            assert!(a.word != b.word || a.mask() & b.mask() == 0, "{what}: {} and {} overlap", a.name, b.name);
        }
    }
}

fn assert_registers(what: &str, group: &[Register], stride: u32) {
    for (i, a) in group.iter().enumerate() {
        assert!(a.offset % 4 == 0 && a.offset < stride, "{what}: {} at {:#x}", a.name, a.offset);
        assert_disjoint(a.name, a.fields);
        for b in &group[i + 1..] {
            assert_ne!(a.offset, b.offset, "{what}: {} and {}", a.name, b.name);
        }
    }
}

#[test]
fn fields_do_not_overlap() {
    assert_disjoint("descriptor", &descriptor::FIELDS);
    assert_disjoint("completion", &completion::FIELDS);
    assert_disjoint("compact completion", &completion::COMPACT_FIELDS);
    assert_disjoint("filter row", &registers::filter::ROW_FIELDS);
    assert_disjoint("status", &status::FIELDS);
}

#[test]
fn registers_do_not_overlap() {
    assert_registers("global", &registers::GLOBALS, 0x80);
    assert_registers("filter", &registers::filter::REGISTERS, 0x200);
    assert_registers("queue", &registers::queue::REGISTERS, registers::QUEUE_STRIDE);
    assert_registers("vector", &registers::vector::REGISTERS, registers::VECTOR_STRIDE);
}

#[test]
fn groups_hold_sixteen_queues_and_do_not_overlap() {
    let queues = 16 * registers::QUEUE_STRIDE;
    assert!(registers::RX_QUEUE + queues <= registers::TX_QUEUE);
    assert!(registers::TX_QUEUE + queues <= registers::VECTOR);
    assert!(registers::VECTOR + 32 * registers::VECTOR_STRIDE <= registers::MSIX_TABLE);
}

proptest! {
    #[test]
    fn a_field_changes_only_itself(words in any::<[u32; 8]>(), which in 0usize..completion::FIELDS.len(), value in any::<u32>()) {
        let field = completion::FIELDS[which];
        let mut changed = words;
        field.put(&mut changed, value);
        prop_assert_eq!(field.get(&changed), value & field.max());
        for other in completion::FIELDS.iter().filter(|other| other.name != field.name) {
            prop_assert_eq!(other.get(&changed), other.get(&words));
        }
    }

    #[test]
    fn rx_descriptors_survive(address: u64, length: u16, cookie: u32) {
        let descriptor = RxDescriptor { address, length, cookie };
        prop_assert_eq!(RxDescriptor::decode(&descriptor.encode()), descriptor);
    }

    #[test]
    fn tx_descriptors_survive(address: u64, length: u16, flags: u16) {
        let descriptor = TxDescriptor { address, length, flags };
        prop_assert_eq!(TxDescriptor::decode(&descriptor.encode()), descriptor);
    }

    #[test]
    fn completions_survive(words in any::<[u32; 8]>()) {
        let completion = RxCompletion::decode(&words);
        prop_assert_eq!(RxCompletion::decode(&completion.encode()), completion);
        for field in completion::FIELDS {
            prop_assert_eq!(field.get(&completion.encode()), field.get(&words), "{}", field.name);
        }
    }

    #[test]
    fn status_fields_replace_only_themselves(word: u32, which in 0usize..status::FIELDS.len(), value in any::<u32>()) {
        let field = status::FIELDS[which];
        let changed = Status(word).with(field, value);
        prop_assert_eq!(changed.get(field), value & field.max());
        prop_assert_eq!(changed.0 & !field.mask(), word & !field.mask());
    }
}
