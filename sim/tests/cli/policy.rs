//! The driver's policies, chosen by options.

use serde_json::Value;

use crate::support::{refused, report, sim};

const TRAFFIC: &str = "--generate size=60-400,count=400,mix=udp+tcp";

/// A run in which nothing may be lost.
fn run(words: &str) -> Value {
    let report = report(&format!("{TRAFFIC} {words}"), &[]);
    assert_eq!(report["frames_delivered"], 400, "{words}");
    report
}

fn number(report: &Value, field: &str) -> u64 {
    report[field].as_u64().unwrap()
}

/// Catches: an option that is read and not used, or used for another.
#[test]
fn each_policy_does_what_it_says() {
    let usual = run("");
    assert_eq!((number(&usual, "software_path"), number(&usual, "status_path")), (0, 400));
    assert_eq!(number(&run("--classify software"), "software_path"), 400);
    // A sample that agrees changes nothing.
    assert_eq!(number(&run("--classify sampled:3"), "status_path"), 400);
    // Polls that follow slowly find many packets each; before every sleep the ring gets what was left over.
    let doorbells = |replenish: &str| number(&run(&format!("--rearm delayed:64 --replenish {replenish}")), "doorbells");
    let [one, four, twenty, poll] = ["as-taken:1", "every:4", "every:20", "at-end"].map(doorbells);
    assert!(one >= 400 && (100..200).contains(&four), "{one} for one each, {four} for four");
    assert!(twenty < four && poll <= twenty, "{twenty} for twenty, {poll} for a poll");
    assert!(doorbells("low-water --low-water 64") < poll);
    let interrupts = |rearm: &str| number(&run(&format!("--rearm {rearm}")), "interrupts");
    assert!(interrupts("under-budget") > 100, "one for every few packets");
    assert!(interrupts("delayed:16") <= 3, "traffic at line rate is polled");
    run("--rearm when-idle");
    for words in ["off", "current", "next", "two-pass", "wanted"] {
        run(&format!("--prefetch {words} --copybreak 0 --weight 5"));
    }
    run("--copybreak 1518 --queues 4");
}

#[test]
fn a_policy_that_cannot_be_is_refused_by_name() {
    for (words, named) in [
        ("--replenish often", ["--replenish", "often", "as-taken:N, every:N, at-end and low-water"]),
        ("--replenish every:0", ["--replenish", "every:0", "1 to 65535"]),
        ("--replenish every:257", ["RX descriptors per refill", "is 257", "1 to 256"]),
        ("--replenish as-taken:300", ["RX descriptors per doorbell", "is 300", "1 to 256"]),
        ("--replenish low-water", ["LOW WATER to refill at", "is 0", "1 to 256"]),
        ("--classify guess", ["--classify", "guess", "software, status and sampled:N"]),
        ("--prefetch all", ["--prefetch", "all", "two-pass"]),
        ("--copybreak 1519", ["copybreak", "is 1519", "0 to 1518"]),
        ("--weight 0", ["--weight", "0", "1..=64"]),
        ("--rearm never", ["--rearm", "never", "under-budget, when-idle and delayed:N"]),
        ("--rearm delayed:129", ["frames of a delay", "is 129", "1 to 128"]),
    ] {
        refused(&sim(&format!("{TRAFFIC} {words}"), &[]), &named);
    }
}
