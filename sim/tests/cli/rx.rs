//! Several queues, formats of completions, buffers, and the figures of each queue.

use crate::support::{dropped, lines, report, sim};
use serde_json::Value;

/// The fields of a line that tell of the RX side.
const FIELDS: [&str; 18] = [
    "queue", "l3", "l3_offset", "l4", "header_length", "frag", "ack", "ip_csum", "l4_csum", "raw_csum", "rss", "rss_type",
    "filter", "tag", "vlan_tci", "stripped", "buffers", "split",
];

fn each(report: &Value, figure: &str) -> f64 {
    report["per_frame"][figure].as_f64().unwrap()
}

#[test]
fn a_line_says_all_of_a_frame() {
    let (_, lines) = lines("--generate size=100,count=3,mix=tcp --rss all --filter vlan=1", &[]);
    for line in &lines {
        assert!(FIELDS.iter().all(|field| line.get(field).is_some()), "{line}");
        for (field, value) in [
            ("queue", 0), ("l3_offset", 14), ("header_length", 54), ("buffers", 1),
        ] {
            assert_eq!(line[field], value, "{field}");
        }
        for (field, value) in [
            ("l3", "ipv4"), ("l4", "tcp"), ("ip_csum", "good"), ("l4_csum", "good"), ("rss_type", "tcp4"),
        ] {
            assert_eq!(line[field], value, "{field}");
        }
        for field in ["frag", "ack", "filter", "stripped", "split"] {
            assert_eq!(line[field], false, "{field}");
        }
        assert!(line["raw_csum"].is_u64() && line["rss"].is_u64());
        assert!(line["tag"].is_null() && line["vlan_tci"].is_null());
    }
}

#[test]
fn frames_are_spread_over_the_queues_and_counted_there() {
    let (report, lines) = lines("--generate size=80,count=400,mix=udp+tcp6 --queues 4", &[]);
    assert_eq!(report["frames_delivered"], 400);
    let mut counts = [0; 4];
    for line in &lines {
        let queue = line["queue"].as_u64().unwrap();
        assert_eq!(queue, line["rss"].as_u64().unwrap() % 128 % 4, "{line}");
        counts[queue as usize] += 1;
    }
    let queues = report["queues"].as_array().unwrap();
    assert_eq!(queues.len(), 4);
    for (number, (queue, count)) in queues.iter().zip(counts).enumerate() {
        assert_eq!((&queue["queue"], &queue["frames"]), (&number.into(), &count.into()));
        assert!(count > 0 && queue["descriptors"].as_u64() >= Some(count), "{queue}");
    }
}

#[test]
fn the_table_has_the_queues_when_there_are_several() {
    let table = |queues: u32| {
        let output = sim(&format!("--generate size=60,count=40 --queues {queues}"), &[]);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let (one, two) = (table(1), table(2));
    assert!(!one.contains("queue 0, frames"), "{one}");
    assert!(two.contains("queue 0, frames") && two.contains("queue 1, frames") && !two.contains("queue 2"), "{two}");
    for table in [one, two] {
        assert!(table.contains("a frame, from the core") && table.contains("a frame, to the core"), "{table}");
    }
}

#[test]
fn a_compact_completion_says_less_and_more_of_them_share_a_tlp() {
    let run = |words: &str| {
        lines(&format!("--generate size=60,count=400 --rss all --filter port=udp:9,tag=7 --wthresh 8 {words}"), &[])
    };
    let (full, full_lines) = run("--format full");
    let (hash, hash_lines) = run("--format compact-hash");
    let (tag, tag_lines) = run("--format compact-tag");
    let (index, _) = run("--format compact-hash --discovery index");
    assert!(full_lines.iter().all(|line| line["header_length"] == 42 && line["tag"] == 7 && line["rss"].is_u64()));
    assert!(hash_lines.iter().all(|line| line["header_length"].is_null() && line["tag"].is_null() && line["rss"].is_u64()));
    assert!(tag_lines.iter().all(|line| line["header_length"].is_null() && line["tag"] == 7 && line["rss"].is_null()));
    assert!(each(&hash, "up_tlps") < each(&full, "up_tlps"));
    assert!(each(&tag, "up_bytes") < each(&full, "up_bytes"));
    assert!(each(&index, "up_tlps") > each(&hash, "up_tlps"), "the producer index is a write of its own");
    let total = hash["pcie"]["up_tlps"].as_f64().unwrap();
    assert!((each(&hash, "up_tlps") * 400.0 - total).abs() < 0.01);
}

#[test]
fn gathered_completions_wait_for_the_timer() {
    // One frame, where eight are gathered.
    let seconds = |usecs: u32| {
        let report = report(&format!("--generate size=60,count=1 --wthresh 8 --write-back-usecs {usecs}"), &[]);
        report["sim_seconds"].as_f64().unwrap()
    };
    let longer = seconds(500) - seconds(50);
    assert!((440e-6..460e-6).contains(&longer), "{longer}");
}

#[test]
fn a_frame_takes_as_many_buffers_as_it_needs() {
    let words = "--generate size=1514,count=20 --buffer-bytes 512";
    let (whole, scattered) = lines(&format!("{words} --scatter"), &[]);
    assert_eq!(whole["frames_delivered"], 20);
    assert!(scattered.iter().all(|line| line["buffers"] == 3 && line["split"] == false));
    let without = report(words, &[]);
    assert_eq!(dropped(&without), [("buffer", 20)]);
    assert_eq!(without["queues"][0]["dropped_buffer"], 20);
}

#[test]
fn the_header_gets_a_buffer_where_it_ends() {
    let split = |at: &str| lines(&format!("--generate size=200,count=10,mix=tcp+arp --split {at} --buffer-bytes 256"), &[]).1;
    for line in split("l4") {
        let tcp = line["l4"] == "tcp";
        assert_eq!((&line["split"], &line["buffers"]), (&tcp.into(), &(if tcp { 2 } else { 1 }).into()), "{line}");
    }
    for at in ["l2", "60"] {
        assert!(split(at).iter().all(|line| line["split"] == true && line["buffers"] == 2), "{at}");
    }
    assert!(split("off").iter().all(|line| line["split"] == false));
}

#[test]
fn a_queue_that_nobody_serves_takes_nothing_from_the_others() {
    let ring = 16;
    let words = format!("--generate size=60,count=600 --queues 2 --ring {ring} --unserved 1 --link gen3x8 --hold-usecs 5");
    let (report, lines) = lines(&words, &[]);
    let causes = dropped(&report);
    assert_eq!(causes.iter().map(|(cause, _)| *cause).collect::<Vec<_>>(), ["queue_no_descriptor", "unserved"]);
    assert_eq!(causes[1].1, ring, "what its ring holds");
    assert_eq!(report["queues"][1]["dropped_no_descriptor"], causes[0].1);
    assert_eq!(report["queues"][0]["dropped_no_descriptor"], 0);
    for line in lines.iter().filter(|line| line["outcome"] == "delivered") {
        assert_eq!(line["queue"], 0);
    }
    assert_eq!(report["queues"][0]["frames"], report["frames_delivered"]);
}

#[test]
fn fuzzed_frames_come_through_with_everything_on() {
    let words = "--fuzz 400 --queues 4 --scatter --buffer-bytes 1024 --split l4 --strip c+s --link gen3x8 --seed 3";
    let (report, lines) = lines(words, &[]);
    let lost: u64 = dropped(&report).iter().map(|(_, count)| count).sum();
    assert_eq!((&report["frames_in"], report["frames_delivered"].as_u64().unwrap() + lost), (&400.into(), 400));
    let some = |what: &dyn Fn(&Value) -> bool| lines.iter().any(what);
    assert!(some(&|line| line["split"] == true) && some(&|line| line["buffers"].as_u64() > Some(2)));
    assert!(some(&|line| line["l4_csum"] == "bad") && some(&|line| line["frag"] == true));
    assert!(lines.iter().all(|line| line["capture"] == "fuzzed"));
}

#[test]
fn the_wire_has_the_speed_asked_for() {
    let seconds = report("--generate size=60,count=20 --line-mbps 100", &[])["sim_seconds"].as_f64().unwrap();
    // 20 frames of 84 bytes.
    assert!((134e-6..180e-6).contains(&seconds), "{seconds}");
}
