//! The core's status bits, the reference model and the driver's software path against the recorded answers of a
//! Linux kernel.

use ferronic_contract::class::Mac;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::run::Direction;
use ferronic_sim::wire::{Frame, GENERATED};
use ferronic_tests::classifier::{CHANGED, CLASSIFIER};
use ferronic_tests::mutants::{edge_frames, mutants, RULE, WRONG_ORDER};
use ferronic_tests::oracle::{self, check, one_by_one, reference_model, software_path, status_bits, Answer, Group};
use ferronic_tests::say;
use ferronic_tests::scenario::{play, setup};

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

/// What the core says, over the wire and by DMA to the driver. Short frames arrive padded, which changes no answer.
fn core(group: &Group) -> Vec<Answer> {
    let mut run = setup(Direction::Receive, "gen1x1", 256, 1);
    run.driver.mac = group.own_mac;
    let frames: Vec<Frame> = group.frames.iter().map(|(frame, _)| frame.clone()).collect();
    let (report, fates) = play::<NicCore, 8>(&run, frames.into_iter());
    assert_eq!(report.mismatches, 0, "{report}");
    assert_eq!(report.software_path, 0, "{report}");
    fates.iter().map(|(_, line)| status_bits(line)).collect()
}

/// Frames on the edges of the rule, with what the rule says of them.
fn edges(own_mac: Mac) -> Group {
    let frames = edge_frames(&own_mac).into_iter().enumerate().map(|(index, bytes)| {
        let answer = RULE.answer(&bytes, &own_mac);
        (Frame::new(bytes, GENERATED.into(), index), answer)
    });
    Group { own_mac, frames: frames.collect() }
}

const UNICAST: Mac = [0x02, 0xFE, 0, 0, 0, 1];
const GROUP_ADDRESS: Mac = [0x03, 0xFE, 0, 0, 0, 1];

#[test]
fn the_core_says_what_the_kernel_says() {
    let Some(groups) = recorded("the_core_says_what_the_kernel_says") else { return };
    agrees("core, by its status bits", &groups, core);
    agrees("classifier alone", &groups, CLASSIFIER);
}

#[test]
fn the_core_is_right_on_every_edge() {
    let groups = [UNICAST, GROUP_ADDRESS, [0xFF; 6]].map(edges);
    agrees("core on the edges", &groups, core);
    agrees("classifier on the edges", &groups, CLASSIFIER);
}

#[test]
fn a_core_with_one_bit_of_its_rule_changed_is_found_out() {
    let edges = [edges(UNICAST)];
    let groups = recorded("a_core_with_one_bit_of_its_rule_changed_is_found_out, on captures,");
    for (what, changed) in CHANGED {
        let wrong = check(&edges, changed).mismatches.len();
        assert!(wrong > 0, "{what}: not found out by the edges");
        say(&format!("Verilog with {what}: {wrong} mismatches on the edges"));
        if let Some(groups) = &groups {
            let wrong = check(groups, changed).mismatches.len();
            // They hold no raw 802.3 frame.
            assert!(wrong > 0 || what.starts_with("raw"), "{what}: not found out by the captures");
            say(&format!("Verilog with {what}: {wrong} mismatches on the captures"));
        }
    }
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
    for own in [UNICAST, GROUP_ADDRESS] {
        let frames = edge_frames(&own);
        for frame in &frames {
            let answer = RULE.answer(frame, &own);
            assert_eq!(reference_model(frame, &own), answer, "{frame:02x?}");
            assert_eq!(software_path(frame, &own), answer, "{frame:02x?}");
        }
        for (what, rule) in mutants() {
            let found = frames.iter().any(|frame| rule.answer(frame, &own) != RULE.answer(frame, &own));
            assert_eq!(found, own == GROUP_ADDRESS || what != WRONG_ORDER, "{what}");
        }
    }
}
