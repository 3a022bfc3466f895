//! Fuzzed and generated frames on the core with everything on.

use ferronic::filters::{Filter, Match, Target};
use ferronic::nic::{Nic, VlanStrip};
use ferronic_sim::outcome::FrameLine;
use ferronic_sim::run::Run;
use ferronic_sim::wire::{Frame, Fuzz};
use ferronic_tests::say;

use crate::{count, generated, must, receive, MAC};

/// VLANs that have a filter: one frame in sixteen of those with a tag.
const VLANS: u16 = 200;

/// Four queues by hash, both kinds of tag taken out, filters of four kinds with every action.
fn everything() -> Run {
    let mut run = receive("gen2x1", 256, 4);
    run.prepare = Some(Box::new(|nic: &mut Nic| {
        nic.set_vlan_strip(VlanStrip { customer: true, service: true })?;
        let dmac = |address| Match { dmac: Some(address), ..Match::default() };
        let ethertype = |kind| Match { ethertype: Some(kind), ..Match::default() };
        let both = Match { ethertype: Some(0x86DD), ..dmac(MAC) };
        let mut filters = vec![
            (ethertype(0x0806), Target::Queue(1), 0x0A0A),
            (ethertype(0x86DC), Target::Drop, 0),
            (dmac([0x33, 0x33, 0, 0, 0, 1]), Target::Queue(2), 0xFFFF),
            (dmac([1, 0, 0x5E, 0, 0, 1]), Target::Rss, 0x8001),
            (both, Target::Rss, 0x1234),
        ];
        filters.extend((0..VLANS).map(|vlan| (Match { vlan: Some(vlan), ..Match::default() }, Target::Queue(3), vlan)));
        for (on, target, tag) in filters {
            nic.filters.add(Filter { on, target, tag })?;
        }
        Ok(())
    }));
    run
}

fn fuzzed(seed: u64, frames: usize) -> Vec<(Frame, FrameLine)> {
    let (report, fates) = must(&everything(), Fuzz::new(seed, MAC).take(frames));
    assert!(report.frames_dropped.keys().all(|cause| *cause == "filter"), "{report}");
    say(&format!("{frames} fuzzed frames: {} delivered, dropped {:?}", report.frames_delivered, report.frames_dropped));
    fates
}

/// Everything that a completion can say was said at least so often.
fn must_have_seen(fates: &[(Frame, FrameLine)], least: usize) {
    let often = |what: &str, seen: usize| assert!(seen >= least, "{what}: {seen} times");
    for queue in 0..4 {
        often(&format!("queue {queue}"), count(fates, |class| class.queue == queue));
    }
    for l3 in ["none", "ipv4", "ipv6", "arp", "other"] {
        often(l3, count(fates, |class| class.l3 == Some(l3)));
    }
    for l4 in ["none", "tcp", "udp", "icmp", "sctp", "other"] {
        often(l4, count(fates, |class| class.l4 == Some(l4)));
    }
    for verdict in ["good", "bad"] {
        often(&format!("IPv4 header {verdict}"), count(fates, |class| class.ip_csum == Some(verdict)));
        for l3 in ["ipv4", "ipv6"] {
            let seen = count(fates, |class| class.l3 == Some(l3) && class.l4_csum == Some(verdict));
            often(&format!("checksum over {l3} {verdict}"), seen);
        }
    }
    for rss in ["ipv4", "tcp4", "udp4", "ipv6", "tcp6", "udp6"] {
        often(&format!("hash over {rss}"), count(fates, |class| class.rss_type == Some(rss)));
    }
    for tag in [0x0A0A, 0xFFFF, 0x8001, 0x1234] {
        often(&format!("filter {tag:#x}"), count(fates, |class| class.tag == Some(tag)));
    }
    let by_vlan = |class: &ferronic_sim::outcome::ClassLine| class.tag.is_some_and(|tag| tag < VLANS) && class.queue == 3;
    often("filter by VLAN", count(fates, by_vlan));
    often("stripped", count(fates, |class| class.stripped));
    often("fragments", count(fates, |class| class.frag == Some(true)));
    often("segments without data", count(fates, |class| class.ack == Some(true)));
    often("dropped by a filter", fates.iter().filter(|(_, line)| line.outcome == "dropped:filter").count());
}

/// Catches: whatever a block, or the way between two blocks, does to a frame that it should not.
#[test]
fn three_thousand_fuzzed_frames_are_told_as_the_model_has_them() {
    must_have_seen(&fuzzed(1, 3_000), 4);
}

#[test]
#[ignore = "slow: about a minute"]
fn fifty_thousand_fuzzed_frames_are_told_as_the_model_has_them() {
    must_have_seen(&fuzzed(2, 50_000), 50);
}

#[test]
#[ignore = "slow: about a minute"]
fn twenty_seeds_of_generated_traffic_are_told_as_the_model_has_them() {
    for seed in 1..=20 {
        let mix = "udp+tcp+icmp+arp+udp6+tcp6+icmp6+vlan+qinq";
        let short = generated(&format!("size=74-1514,count=1000,mix={mix}+llc+raw"), seed);
        let long = generated(&format!("size=74-9600,count=50,mix={mix}+raw"), seed + 100);
        let (report, fates) = must(&everything(), short.chain(long));
        assert_eq!(report.frames_delivered, 1050, "seed {seed}: {report}");
        for queue in 0..4 {
            assert!(count(&fates, |class| class.queue == queue) > 50, "seed {seed}, queue {queue}");
        }
    }
}
