//! The reference model and the driver's software path against the recorded answers of a Linux kernel.

use ferronic_tests::mutants::{edge_frames, mutants, RULE, WRONG_ORDER};
use ferronic_tests::oracle::{self, check, one_by_one, reference_model, software_path, Answer, Group};
use ferronic_tests::say;

/// The recorded answers; says why when a test must be skipped.
fn recorded(test: &str) -> Option<Vec<Group>> {
    oracle::recorded().inspect_err(|why| say(&format!("{test} skipped: {why}"))).ok()
}

fn agrees(name: &str, groups: &[Group], opinion: impl FnMut(&Group) -> Vec<Answer>) {
    let tally = check(groups, opinion);
    say(&format!("{name}: {} frames compared, {} mismatches", tally.compared, tally.mismatches.len()));
    assert!(tally.compared > 0, "nothing was compared");
    assert!(tally.mismatches.is_empty(), "{name}:\n{}", tally.mismatches.join("\n"));
}

#[test]
fn everyone_says_what_the_kernel_says() {
    let Some(groups) = recorded("everyone_says_what_the_kernel_says") else { return };
    agrees("reference model", &groups, one_by_one(reference_model));
    agrees("software path", &groups, one_by_one(software_path));
}

#[test]
fn a_rule_with_one_bit_wrong_is_found_out() {
    let Some(groups) = recorded("a_rule_with_one_bit_wrong_is_found_out") else { return };
    agrees("rule without a mistake", &groups, one_by_one(|frame, own| RULE.answer(frame, own)));
    let mut found = 0;
    for (what, rule) in mutants() {
        let wrong = check(&groups, one_by_one(|frame, own| rule.answer(frame, own))).mismatches.len();
        // Which bits the captures can show is theirs to say; these two kinds are full of frames.
        let must = what.ends_with("for the group bit") || what == "types from 0x0400 on";
        assert!(wrong > 0 || !must, "{what}: not found out");
        println!("{what}: {wrong} mismatches");
        found += usize::from(wrong > 0);
    }
    say(&format!("{found} of {} wrong rules found out by the captures", mutants().len()));
}

#[test]
fn the_edge_frames_find_out_every_wrong_bit() {
    let (unicast, group) = ([0x02, 0xFE, 0, 0, 0, 1], [0x03, 0xFE, 0, 0, 0, 1]);
    for own in [unicast, group] {
        let frames = edge_frames(&own);
        for frame in &frames {
            let answer = RULE.answer(frame, &own);
            assert_eq!(reference_model(frame, &own), answer, "{frame:02x?}");
            assert_eq!(software_path(frame, &own), answer, "{frame:02x?}");
        }
        for (what, rule) in mutants() {
            let found = frames.iter().any(|frame| rule.answer(frame, &own) != RULE.answer(frame, &own));
            assert_eq!(found, own == group || what != WRONG_ORDER, "{what}");
        }
    }
}
