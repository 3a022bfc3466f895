//! What is refused, and in which words.

use crate::support::{demo, refused, sim};

const TRAFFIC: &str = "--generate size=60,count=10";

#[test]
fn a_bad_value_is_refused_by_name() {
    for (words, named) in [
        ("--ring 7", ["--ring", "\"7\"", "power of two"]),
        ("--ring 65536", ["--ring", "65536", "32768"]),
        ("--own-mac 02:00:00:00:00", ["--own-mac", "has 5 bytes", "02:00:00:00:00"]),
        ("--own-mac 02:00:00:00:00:0g", ["--own-mac", "0g", "hexadecimal"]),
        ("--link gen9x3", ["--link", "gen9x3", "gen1x1"]),
        ("--pthresh 0", ["PTHRESH", "is 0", "1 to 64"]),
        ("--hthresh 65", ["HTHRESH", "is 65", "1 to 64"]),
        ("--batch 33", ["BATCH", "is 33", "1 to 32"]),
        ("--wthresh 9", ["WTHRESH", "is 9", "1 to 8"]),
        ("--max-frame 59", ["MAX_FRAME", "59", "60"]),
        ("--max-frame 9601", ["MAX_FRAME", "9601", "9600"]),
        ("--report xml", ["--report", "xml", "json"]),
        ("--frames /no/such/folder/f", ["/no/such/folder/f", "No such file", ""]),
        ("--received /no/such/folder/r", ["/no/such/folder/r", "No such file", ""]),
        ("--fst /no/such/folder/w", ["/no/such/folder/w", "", ""]),
    ] {
        refused(&sim(&format!("{TRAFFIC} {words}"), &[]), &named);
    }
    refused(&sim("--generate size=7", &[]), &["size=7", "14"]);
    refused(&sim("", &[]), &["--capture"]);
    refused(&sim(TRAFFIC, &[("--capture", &demo())]), &["--capture", "--generate"]);
    refused(&sim("--fuzz 0", &[]), &["--fuzz", "0"]);
    refused(&sim("--fuzz 1", &[("--capture", &demo())]), &["--capture", "--fuzz"]);
    refused(&sim("--transmit --transmit-only", &[("--capture", &demo())]), &["--transmit", "--transmit-only"]);
}

#[test]
fn a_queue_that_cannot_be_is_refused_by_name() {
    for (words, named) in [
        ("--queues 0", ["--queues", "0", "1..=16"]),
        ("--queues 5", ["RX queues", "is 5", "1 to 4"]),
        ("--queues 4 --unserved 4", ["--unserved", "queue 4 is not open", "0 to 3"]),
        ("--queues 2 --unserved 1 --hold-usecs 0", ["--unserved", "for ever", "--hold-usecs"]),
        ("--unserved 0", ["--unserved", "for ever", "--hold-usecs"]),
        ("--hold-usecs 200000", ["hold usecs", "is 200000", "134217"]),
        ("--write-back-usecs 200000", ["write-back usecs", "is 200000", "134217"]),
        ("--format tiny", ["--format", "tiny", "compact-hash"]),
        ("--discovery guess", ["--discovery", "guess", "phase"]),
        ("--buffer-bytes 63", ["bytes of a buffer", "is 63", "64 to 16384"]),
        ("--split l5", ["--split", "l5", "off, l2, l3, l4"]),
        ("--split 0", ["split header", "is 0", "1 to 1023"]),
        ("--split 65 --buffer-bytes 64", ["split header", "is 65", "1 to 64"]),
        ("--split l4 --buffer-bytes 64", ["buffer for a split header", "is 64", "128 to 16384"]),
        ("--split l4 --transmit", ["--split", "--transmit", "cannot"]),
        ("--scatter --transmit", ["--scatter", "--transmit", "cannot"]),
        ("--scatter --received /tmp/r.pcap", ["--scatter", "--received", "cannot"]),
        ("--line-mbps 9", ["--line-mbps", "9", "10 to 400000"]),
        ("--line-mbps 30", ["--line-mbps", "30", "picoseconds"]),
    ] {
        refused(&sim(&format!("{TRAFFIC} {words}"), &[]), &named);
    }
}

#[test]
fn steering_that_cannot_be_is_refused_by_name() {
    for (words, named) in [
        ("--rss ipv4+ipv5", ["--rss", "\"ipv5\"", "tcp6"]),
        ("--rss all+udp4", ["--rss", "\"all\"", "joined by +"]),
        ("--queues 2 --default-queue 2", ["--default-queue", "queue 2 is not open", "0 to 1"]),
        ("--filter to=0", ["--filter", "must name a field", "dmac"]),
        ("--filter vlan=4096,to=0", ["--filter", "vlan=4096", "0 to 4095"]),
        ("--filter vlan=1,vlan=2", ["--filter", "vlan=2", "only once"]),
        ("--filter vid=1", ["--filter", "vid=1", "dmac, vlan, type"]),
        ("--filter vlan", ["--filter", "vlan=:", "0 to 4095"]),
        ("--filter dmac=02:00,to=0", ["--filter", "dmac=02:00", "has 2 bytes"]),
        ("--filter type=0x10000", ["--filter", "type=0x10000", "0xffff"]),
        ("--filter src=10.0.0", ["--filter", "src=10.0.0", "IPv4 or IPv6"]),
        ("--filter src=10.0.0.1,dst=::1", ["source and destination", "both be IPv4", "both be IPv6"]),
        ("--filter port=53", ["--filter", "port=53", "udp:N"]),
        ("--filter port=icmp:1", ["--filter", "port=icmp:1", "sctp:N"]),
        ("--filter port=udp:53,to=queue", ["--filter", "to=queue", "rss and drop"]),
        ("--filter port=udp:53,tag=65536", ["--filter", "tag=65536", "65535"]),
        ("--queues 4 --filter port=udp:53,to=4", ["--filter", "queue 4 is not open", "0 to 3"]),
        (
            "--filter vlan=1 --filter type=1 --filter port=tcp:1 --filter src=::1 --filter dst=::1",
            ["kinds of filter", "4", "one more"],
        ),
        ("--rx-mode all", ["--rx-mode", "promiscuous", "own+all-multicast"]),
        ("--hash-address 02:00:00:00:00:07", ["--rx-mode", "required", ""]),
        ("--rx-mode promiscuous --hash-address 02:00:00:00:00:07", ["--hash-address", "every frame", "promiscuous"]),
        ("--hash-to 0", ["--hash-address", "required", ""]),
        ("--rx-mode own --hash-address 02:00:00:00:00:07 --hash-to 1", ["--hash-to", "queue 1 is not open", "0 to 0"]),
        ("--strip q", ["--strip", "q", "c+s"]),
        ("--pause stop", ["--pause", "stop", "honour"]),
        ("--pause-high 128", ["--pause", "required", ""]),
        ("--pause send --pause-high 32", ["high-water mark", "is 32", "64"]),
        ("--pause send --pause-high 128 --pause-low 65", ["low-water mark", "is 65", "0 to 64"]),
    ] {
        refused(&sim(&format!("{TRAFFIC} {words}"), &[]), &named);
    }
}
