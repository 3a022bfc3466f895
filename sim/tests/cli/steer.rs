//! Filters, hashing, modes, VLAN strip and flow control.

use crate::support::{demo, dropped, lines, report};
use ferronic_sim::wire::CaptureWriter;
use serde_json::Value;

fn delivered(lines: &[Value]) -> impl Iterator<Item = &Value> {
    lines.iter().filter(|line| line["outcome"] == "delivered")
}

#[test]
fn a_filter_decides_the_queue_and_the_tag() {
    let words = "--generate size=80,count=60,mix=udp+tcp --queues 4 --default-queue 3 --rss none";
    let (_, lines) = lines(&format!("{words} --filter dst=10.0.0.1,port=udp:9,to=2,tag=0x77"), &[]);
    for line in &lines {
        let udp = line["l4"] == "udp";
        assert_eq!(line["filter"], udp, "{line}");
        assert_eq!(line["queue"], if udp { 2 } else { 3 }, "{line}");
        assert_eq!(line["tag"].as_u64(), udp.then_some(0x77), "{line}");
    }
    assert!(lines.iter().any(|line| line["filter"] == true) && lines.iter().any(|line| line["filter"] == false));
}

#[test]
fn the_filter_whose_fields_were_named_first_wins() {
    let run = |filters: &str| report(&format!("--generate size=80,count=20,mix=vlan --queues 2 {filters}"), &[]);
    let (vlan, port) = ("--filter vlan=5,to=drop", "--filter type=0x0800,port=udp:9,to=1");
    assert_eq!(dropped(&run(&format!("{vlan} {port}"))), [("filter", 20)]);
    assert_eq!(run(&format!("{port} {vlan}"))["queues"][1]["frames"], 20);
}

#[test]
fn a_filter_knows_every_field() {
    for (mix, filter, matches) in [
        ("udp", "dmac=02:00:00:00:00:01", true),
        ("udp", "dmac=02:00:00:00:00:02", false),
        ("qinq", "vlan=100", true),
        ("qinq", "vlan=5", false),
        ("udp6", "type=0x86dd", true),
        ("udp6", "dst=fd00::1", true),
        ("udp", "src=10.0.1.1", false),
        ("tcp6", "port=tcp:9", true),
        ("tcp6", "port=udp:9", false),
    ] {
        let report = report(&format!("--generate size=80,count=1,mix={mix} --filter {filter},to=drop"), &[]);
        assert_eq!(dropped(&report) == [("filter", 1)], matches, "{mix} and {filter}: {report}");
    }
}

#[test]
fn only_the_kinds_asked_for_are_hashed() {
    let (_, lines) = lines("--generate size=80,count=60,mix=udp+tcp --queues 4 --rss udp4+ipv6 --default-queue 3", &[]);
    for line in &lines {
        let udp = line["l4"] == "udp";
        assert_eq!(line["rss_type"].as_str(), udp.then_some("udp4"), "{line}");
        assert!(udp || line["queue"] == 3, "{line}");
    }
    assert!(lines.iter().any(|line| line["queue"] != 3));
}

#[test]
fn the_mode_decides_which_frames_are_taken() {
    let kinds = |words: &str| {
        // The station is not the one that the capture was made for.
        let (_, lines) = lines(&format!("{words} --own-mac 02:00:00:00:00:99"), &[("--capture", &demo())]);
        let mut kinds: Vec<String> = delivered(&lines).map(|line| line["dst"].as_str().unwrap().into()).collect();
        kinds.sort();
        kinds.dedup();
        (kinds, lines)
    };
    assert_eq!(kinds("--rx-mode promiscuous").0, ["broadcast", "multicast", "other_host"]);
    assert_eq!(kinds("--rx-mode own").0, ["broadcast"]);
    assert_eq!(kinds("--rx-mode own+all-multicast").0, ["broadcast", "multicast"]);
    let hash = "--rx-mode own --hash-address 02:fe:00:00:00:01 --hash-tag 9 --queues 2 --hash-to 1";
    let (with_hash, lines) = kinds(hash);
    assert_eq!(with_hash, ["broadcast", "other_host"]);
    for line in delivered(&lines).filter(|line| line["dst"] == "other_host") {
        assert_eq!((&line["queue"], &line["tag"]), (&1.into(), &9.into()), "{line}");
    }
}

#[test]
fn the_tags_asked_for_are_taken_out() {
    for (strip, customer, service) in [("c", true, false), ("s", false, true), ("c+s", true, true)] {
        let (_, lines) = lines(&format!("--generate size=80,count=20,mix=vlan+qinq --strip {strip}"), &[]);
        for line in &lines {
            // The generator's outer tags: 5 for customers, 100 for services.
            let (stripped, tci) = if line["vlan_tags"] == 1 { (customer, 5) } else { (service, 100) };
            assert_eq!(line["stripped"], stripped, "{line}");
            assert_eq!(line["vlan_tci"].as_u64(), stripped.then_some(tci), "{line}");
        }
        assert!(lines.iter().any(|line| line["vlan_tags"] == 1) && lines.iter().any(|line| line["vlan_tags"] == 2));
    }
}

#[test]
fn a_pause_frame_is_honoured_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pause.pcap");
    // IEEE 802.3, 31B: to the group address, MAC control, PAUSE, 16 quanta.
    let mut frame = [1, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0x08, 0, 1, 0, 16].to_vec();
    frame.resize(60, 0);
    let mut capture = CaptureWriter::create(&file).unwrap();
    capture.write(0, &frame).unwrap();
    capture.finish().unwrap();
    let run = |words: &str| report(words, &[("--capture", &file)]);
    assert_eq!(run("")["frames_delivered"], 1);
    assert_eq!(run("--pause send")["frames_delivered"], 1);
    for words in ["--pause honour", "--pause both"] {
        let report = run(words);
        assert_eq!((dropped(&report), &report["frames_delivered"]), (vec![("pause", 1)], &0.into()));
    }
}

#[test]
fn a_full_packet_fifo_asks_for_a_pause() {
    // On a slow link, a low mark is soon reached; the default one, half of the FIFO, is not.
    let words = "--generate size=1514,count=10 --pause send";
    let sent = |marks: &str| report(&format!("{words} {marks}"), &[])["counters"]["core.PAUSE_OUT"].as_u64().unwrap();
    assert!(sent("--pause-high 1024 --pause-low 64 --pause-quanta 100") > 0);
    assert_eq!(sent(""), 0);
    assert_eq!(sent("--pause-high 1024 --pause-quanta 0"), 0, "nothing could be asked for");
}
