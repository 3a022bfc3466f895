//! Frames, layer by layer, each layer as broken as a test wants it.

use super::reading::{sum, Frame};
use super::Random;

/// Own address.
pub const OWN: [u8; 6] = [2, 0, 0x5E, 0x10, 0x20, 0x30];

/// Behind the Ethernet header with its tags, each a TPID and a TCI, a type and what is in it.
pub fn ethernet(tags: &[(u16, u16)], kind: u16, inside: &[u8]) -> Frame {
    let mut bytes = OWN.to_vec();
    bytes.extend([2, 0x11, 0x22, 0x33, 0x44, 0x55]);
    for (tpid, tci) in tags {
        bytes.extend(tpid.to_be_bytes());
        bytes.extend(tci.to_be_bytes());
    }
    bytes.extend(kind.to_be_bytes());
    bytes.extend(inside);
    Frame { bytes, stripped: None, own: OWN, epoch: 3, time: 0x1_2345_6789 }
}

/// An IPv4 packet, header checksum right. `fragment` is the word with flags and offset.
pub fn ipv4(options: usize, protocol: u8, fragment: u16, inside: &[u8]) -> Vec<u8> {
    let size = 20 + 4 * options;
    let mut packet = vec![0; size];
    packet[0] = 0x40 | (size / 4) as u8;
    packet[2..4].copy_from_slice(&((size + inside.len()) as u16).to_be_bytes());
    packet[4..6].copy_from_slice(&[0xAB, 0xCD]);
    packet[6..8].copy_from_slice(&fragment.to_be_bytes());
    packet[8] = 64;
    packet[9] = protocol;
    packet[12..20].copy_from_slice(&[192, 168, 1, 2, 10, 20, 30, 40]);
    packet[20..].fill(1);
    let check = !sum(&packet);
    packet[10..12].copy_from_slice(&check.to_be_bytes());
    packet.extend(inside);
    packet
}

/// An IPv6 packet with extension headers, each its number and its bytes without the number of the next one.
pub fn ipv6(extensions: &[(u8, Vec<u8>)], protocol: u8, inside: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 1, 2, 3, 0, 0, 0, 64];
    packet.extend((0..16).map(|i| 0x20 + i).chain((0..16).map(|i| 0xF0 ^ (3 * i))));
    let numbers = extensions.iter().map(|(number, _)| *number).chain([protocol]);
    let mut numbers = numbers.collect::<Vec<u8>>().into_iter();
    packet[6] = numbers.next().unwrap();
    for ((_, bytes), next) in extensions.iter().zip(numbers) {
        packet.push(next);
        packet.extend(bytes);
    }
    packet.extend(inside);
    let payload = (packet.len() - 40) as u16;
    packet[4..6].copy_from_slice(&payload.to_be_bytes());
    packet
}

/// Hop-by-hop or destination options of 8 bytes and more.
pub fn options(number: u8, units: u8) -> (u8, Vec<u8>) {
    let mut bytes = vec![1; 8 * usize::from(units) + 7];
    bytes[0] = units;
    (number, bytes)
}

/// A routing header.
pub fn routing(units: u8, segments_left: u8) -> (u8, Vec<u8>) {
    let (number, mut bytes) = options(43, units);
    bytes[1..3].copy_from_slice(&[4, segments_left]);
    (number, bytes)
}

/// A fragment header: offset in units of 8 bytes, reserved bits, more.
pub fn fragment(offset: u16, more: bool) -> (u8, Vec<u8>) {
    let word = (offset << 3 | 6 | u16::from(more)).to_be_bytes();
    (44, vec![0xEE, word[0], word[1], 9, 9, 9, 9])
}

/// An authentication header of `units` + 2 words.
pub fn authentication(units: u8) -> (u8, Vec<u8>) {
    let mut bytes = vec![7; 4 * usize::from(units) + 7];
    bytes[0] = units;
    (51, bytes)
}

/// A TCP segment with a data offset that may lie.
pub fn tcp(offset: u8, data: usize) -> Vec<u8> {
    let mut bytes = vec![0x33; 4 * usize::from(offset).max(5) + data];
    bytes[..4].copy_from_slice(&[0x12, 0x34, 0x00, 0x50]);
    bytes[12] = offset << 4 | 1;
    bytes
}

/// A UDP datagram with a checksum.
pub fn udp(data: usize) -> Vec<u8> {
    let mut bytes = vec![0xD7, 0x01, 0x00, 0x35, 0, 0, 0x77, 0x88];
    bytes[4..6].copy_from_slice(&(8 + data as u16).to_be_bytes());
    bytes.extend(vec![0xA5; data]);
    bytes
}

/// A frame in which everything can be, and anything can be broken.
pub fn any(random: &mut Random) -> Frame {
    let count = random.pick(&[0, 0, 0, 1, 1, 2, 2, 3]);
    let tpids = [0x8100, 0x8100, 0x8100, 0x88A8, 0x88A8, 0x8100, 0x8100, 0x88A8, 0x9100];
    let tags: Vec<_> = (0..count).map(|_| (random.pick(&tpids), random.next() as u16)).collect();
    let data = random.pick(&[0, 0, 1, 2, 6, 18, 19, 40, 100, 300]);
    let (number, mut inside) = match random.below(8) {
        0..=2 => (6, tcp(random.pick(&[5, 5, 5, 5, 5, 5, 6, 8, 10, 15, 4, 0]), data)),
        3 | 4 => (17, udp(data)),
        _ => {
            let count = random.below(40);
            (random.pick(&[132, 1, 58]), random.bytes(count))
        }
    };
    let number = if random.chance(85) { number } else { random.pick(&[6, 17, 59, 0, 43, 44, 51, 60, 50, 41, 255]) };
    let (kind, mut packet) = match random.below(10) {
        0..=3 => {
            let flags = random.pick(&[0, 0, 0, 0x4000, 0x4000, 0x4000, 0x8000, 0x2000, 0x2001, 1, 0x1000, 0x1FFF]);
            (0x0800, ipv4(random.pick(&[0, 0, 0, 1, 5, 9, 10]), number, flags, &inside))
        }
        4..=8 => {
            let count = random.pick(&[0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5]);
            let extensions: Vec<_> = (0..count).map(|_| extension(random)).collect();
            if random.chance(10) {
                inside.truncate(random.below(24));
            }
            (0x86DD, ipv6(&extensions, number, &inside))
        }
        _ => (random.pick(&[0x0806, 0x0600, 0x05FF, 0x88F7, 0x05DC, 0]), inside),
    };
    // The length field counts a few bytes more or less than there are; or padding follows.
    let length_at = if kind == 0x0800 { 2 } else { 4 };
    if random.chance(15) && packet.len() > 6 {
        packet[length_at + 1] = packet[length_at + 1].wrapping_add(random.pick(&[1, 2, 4, 8, 255, 254, 252, 248]));
    }
    if random.chance(20) {
        let count = random.below(30);
        packet.extend(random.bytes(count));
    }
    // Any byte of the first may be another.
    for _ in 0..random.pick(&[0, 0, 0, 0, 1, 2]) {
        let at = random.below(packet.len().clamp(1, 80));
        if let Some(byte) = packet.get_mut(at) {
            *byte = if random.chance(50) { *byte ^ 1 << random.below(8) } else { random.next() as u8 };
        }
    }
    let mut frame = ethernet(&tags, kind, &packet);
    if random.chance(10) {
        frame.bytes.truncate(14 + random.below(frame.bytes.len() - 13));
    }
    match random.below(6) {
        0 => frame.bytes[..6].fill(0xFF),
        1 => frame.bytes[0] |= 1,
        2 => frame.bytes[random.below(6)] ^= 1 << random.below(8),
        3 => frame.own = [0xFF; 6],
        _ => {}
    }
    if random.chance(5) && frame.bytes.len() > 16 {
        frame.bytes[14..16].fill(0xFF);
    }
    frame.stripped = random.chance(30).then(|| random.next() as u16);
    frame.epoch = random.below(8) as u8;
    frame.time = random.next() >> 31;
    frame
}

fn extension(random: &mut Random) -> (u8, Vec<u8>) {
    match random.below(6) {
        0 => options(0, random.pick(&[0, 0, 0, 1, 2, 5])),
        1 => options(60, random.pick(&[0, 0, 1, 3])),
        2 => routing(random.pick(&[0, 1, 2]), random.pick(&[0, 0, 0, 1, 128])),
        3 => fragment(random.pick(&[0, 0, 0, 0, 0, 0, 1, 0x1000]), random.chance(30)),
        _ => authentication(random.pick(&[0, 0, 1, 2, 4])),
    }
}
