//! Each rule, broken in one line and kept in the next.

use super::check;

/// A block around the statements of an `update`. They begin on line 23.
fn block(statements: &str) -> String {
    format!(
        "#[derive(LogicBlock, Default)]
pub struct Example<const W: usize> {{
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub a: Signal<In, Bits<8>>,
    pub b: Signal<In, Bits<8>>,
    pub flag: Signal<In, Bit>,
    pub header: Signal<In, Header>,
    pub out: Signal<Out, Bits<8>>,
    lanes: [Signal<Local, Bits<8>>; 4],
    inner: Signal<Local, Bits<8>>,
    ram: Ram<8, 4>,
    count: DFF<Bits<8>>,
    one: Constant<Bits<8>>,
}}
impl<const W: usize> Logic for Example<W> {{
    #[hdl_gen]
    fn update(&mut self) {{
        dff_setup!(self, clock, count);
        for i in 0_usize..4 {{ self.lanes[i].next = self.a.val(); }}
        self.inner.next = self.a.val();
        self.out.next = self.inner.val();
        {statements}
        if self.reset.val() {{
            self.count.d.next = 0.into();
        }}
    }}
}}"
    )
}

fn broken(text: &str) -> Vec<(usize, u8)> {
    check(text).expect("the example is Rust").into_iter().map(|finding| (finding.line, finding.rule)).collect()
}

#[track_caller]
fn breaks(rule: u8, statements: &str) {
    assert_eq!(broken(&block(statements)), [(23, rule)], "{statements}");
}

#[track_caller]
fn keeps(statements: &str) {
    assert_eq!(check(&block(statements)).expect("the example is Rust"), [], "{statements}");
}

#[test]
fn rule_1_wants_parentheses_between_bits_and_comparisons() {
    breaks(1, "if self.a.val() & self.b.val() == self.one.val() { self.out.next = self.a.val(); }");
    breaks(1, "if self.a.val() != self.b.val() | self.one.val() { self.out.next = self.a.val(); }");
    keeps("if (self.a.val() & self.b.val()) == self.one.val() { self.out.next = self.a.val(); }");
    keeps("if self.flag.val() & (self.a.val() == self.b.val()) & !self.reset.val() { self.out.next = self.a.val(); }");
    keeps("self.out.next = self.a.val() & self.b.val() | self.one.val();");
}

#[test]
fn rule_2_wants_no_bare_literal_where_it_widens() {
    breaks(2, "if self.a.val() + 1 == self.b.val() { self.out.next = self.a.val(); }");
    breaks(2, "if (self.a.val() - self.b.val()) < 4 { self.out.next = self.a.val(); }");
    breaks(2, "self.out.next = (self.a.val() - 1) >> self.one.val();");
    breaks(2, "self.out.next = 0x8000_0000.into();");
    breaks(2, "if (self.a.val() + 1).any() { self.out.next = self.a.val(); }");
    breaks(2, "self.out.next = self.a.val() >> (self.b.val() - 1);");
    breaks(2, "for i in 0_usize..4 { self.out.next = self.a.val() << (self.b.val() + i.to_bits::<8>()); }");
    keeps("self.out.next = self.a.val() >> (self.b.val() - self.one.val());");
    keeps("for i in 0_usize..4 { self.out.next = self.a.val() << (i.to_bits::<8>() << 1); }");
    keeps("self.out.next = self.a.val() + 1;");
    keeps("if self.a.val() == 3 { self.out.next = 0x8000_0000_u64.into(); }");
}

#[test]
fn rule_3_wants_arithmetic_in_its_own_width_first() {
    breaks(3, "if (self.a.val() + self.b.val()) == self.one.val() { self.out.next = self.a.val(); }");
    breaks(3, "if !self.a.val() == self.b.val() { self.out.next = self.a.val(); }");
    breaks(3, "if (self.a.val() | !self.b.val()) == self.one.val() { self.out.next = self.a.val(); }");
    breaks(3, "self.out.next = bit_cast::<8, 4>(!self.a.val());");
    breaks(3, "match (self.a.val() - self.b.val()).index() { 0 => {} _ => {} }");
    keeps("if bit_cast::<8, 8>(self.a.val() + 1) == self.b.val() { self.out.next = self.a.val(); }");
    keeps("self.out.next = bit_cast::<W, W>(self.a.val() + self.b.val());");
    keeps("self.out.next = bit_cast::<4, 8>(self.a.val() - self.b.val());");
}

#[test]
fn rule_4_wants_registers_first() {
    let late = block("").replace("dff_setup!(self, clock, count);", "").replace(
        "self.inner.next",
        "dff_setup!(self, clock, count); self.inner.next",
    );
    assert_eq!(broken(&late), [(20, 4)]);
    let forgotten = block("").replace("clock, count)", "clock)").replace("self.count.d.next = 0.into();", "");
    assert_eq!(broken(&forgotten), [(18, 4)]);
}

#[test]
fn rule_4_wants_defaults() {
    let conditional = |target: &str| format!("if self.flag.val() {{ self.{target}.next = self.a.val(); }}");
    breaks(4, &conditional("ram.write_data"));
    keeps(&format!("self.ram.write_data.next = self.b.val(); {}", conditional("ram.write_data")));
    let without = block("").replace("self.inner.next = self.a.val();", &conditional("inner"));
    assert_eq!(broken(&without), [(21, 4)]);
    let never = block("").replace("self.out.next = self.inner.val();", "");
    assert_eq!(broken(&never), [(18, 4)]);
    let in_arm = block("").replace(
        "self.out.next = self.inner.val();",
        "match self.a.val().index() { 0 => { self.out.next = self.b.val(); } _ => {} }",
    );
    assert_eq!(broken(&in_arm), [(22, 4)]);
}

#[test]
fn rule_5_wants_a_local_written_before_it_is_read() {
    let swapped = block("")
        .replace("self.inner.next = self.a.val();", "self.out.next = self.inner.val();//")
        .replacen("        self.out.next = self.inner.val();\n", "        self.inner.next = self.a.val();\n", 1);
    assert_eq!(broken(&swapped), [(21, 5)]);
    let lanes = "self.out.next = self.lanes[2].val();";
    keeps(lanes);
    let early = block("").replace("for i", &format!("{lanes} for i"));
    assert_eq!(broken(&early), [(20, 5)]);
}

#[test]
fn rule_6_wants_the_reset_last() {
    let after = block("").replace("0.into();\n        }", "0.into();\n        }\n        self.count.d.next = self.a.val();");
    assert_eq!(broken(&after), [(27, 6)]);
    let reset = "if self.reset.val() {\n            self.count.d.next = 0.into();\n        }";
    let handed_on = block("").replace(reset, "self.ram.reset.next = self.reset.val();");
    assert_eq!(broken(&handed_on), []);
    let ignored = block("").replace(reset, "");
    assert_eq!(broken(&ignored), [(22, 6)]);
}

#[test]
fn rule_7_wants_flat_structs_decimal_arms_and_no_keywords() {
    breaks(7, "match self.a.val().index() { 0x10 => {} _ => {} }");
    keeps("match self.a.val().index() { 16 => {} _ => {} }");
    assert_eq!(broken("#[derive(LogicBlock)]\nstruct A {\n    pub edge: Signal<In, Bit>,\n}"), [(3, 7)]);
    assert_eq!(broken("#[derive(LogicBlock)]\nstruct A {\n    void: DFF<Bit>,\n}"), [(3, 7)]);
    assert_eq!(broken("#[derive(LogicBlock)]\nstruct A {\n    pub rising: Signal<In, Bit>,\n}"), []);
    assert_eq!(broken("#[derive(LogicStruct)]\nstruct A {\n    kind: Bits<2>,\n    b: Inner,\n}"), [(4, 7)]);
    assert_eq!(broken("#[derive(LogicStruct)]\nstruct A {\n    kind: Bits<2>,\n    b: Bit,\n}"), []);
}

#[test]
fn rule_8_wants_no_names_of_constants_and_only_plain_slices() {
    breaks(8, "self.out.next = W.into();");
    breaks(8, "self.out.next = contract::HEADER_BYTES.into();");
    breaks(8, "match self.a.val().index() { HEADER_BYTES => {} _ => {} }");
    breaks(8, "self.out.next = (self.a.val() & self.b.val()).get_bits::<8>(0);");
    breaks(8, "self.out.next = self.a.val().get_bits::<4>(0).get_bits::<2>(0);");
    breaks(8, "self.out.next = self.header.val().kind.get_bits::<2>(0);");
    breaks(8, "self.out.next = self.rams[0].words[1].val();");
    keeps("for i in 0_usize..W { self.lanes[i].next = self.a.val().get_bits::<W>(i * 8); }");
    keeps("if self.a.val() == State::Idle { self.out.next = self.lanes[0].val().get_bits::<4>(self.a.val().index()); }");
    let two = "#[derive(LogicBlock)]\nstruct A {\n    a: [[Signal<In, Bit>; 2]; 2],\n}";
    assert_eq!(broken(two), [(3, 8)]);
}

#[test]
fn blocks_stamped_out_by_a_macro_are_read_too() {
    let stamped = |statement: &str| {
        format!("macro_rules! stamp {{\n($name:ident, $w:expr) => {{\n{}\n}};\n}}", block(statement))
            .replace("Example", "$name")
    };
    assert_eq!(broken(&stamped("self.out.next = !self.a.val() + W.into();")), [(25, 8)]);
    assert_eq!(broken(&stamped("self.out.next = !self.a.val();")), []);
}
