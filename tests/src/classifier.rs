//! The core's parser alone, as emitted, and with one bit of its link-layer rule changed in the Verilog.

use ferronic_hw::rx::parse::LATENCY;
use ferronic_verilated::PowerUp;

use crate::oracle::{Answer, Group};

/// The Verilated parsers that the build script made.
pub mod models {
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}

/// An opinion on a group of frames.
pub type Opinion = fn(&Group) -> Vec<Answer>;

/// The parser as it is.
pub const CLASSIFIER: Opinion = parse;

/// Each changed parser, with the change.
pub const CHANGED: [(&str, Opinion); 4] = [
    ("bit 1 for the group bit", parse_group_bit),
    ("types from 0x0400 on", parse_type_min),
    ("0xfe for the first byte of the broadcast address", parse_broadcast),
    ("raw 802.3 by 0xfffe", parse_raw),
];

macro_rules! opinion {
    ($name:ident, $model:ident) => {
        fn $name(group: &Group) -> Vec<Answer> {
            let mut block = models::$name::$model::new(PowerUp::Random(1));
            let mut cycle = |frame: Option<&[u8]>| {
                block.set_valid(frame.is_some());
                if let Some(frame) = frame {
                    let byte = |at: usize| frame.get(at).copied().unwrap_or(0);
                    block.set_window(std::array::from_fn(|word| {
                        u32::from_le_bytes(std::array::from_fn(|lane| byte(4 * word + lane)))
                    }));
                    block.set_length(frame.len() as u16);
                }
                block.set_own_mac(group.own_mac.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
                block.set_clock(false);
                block.eval();
                let answer = Answer { pkt_type: block.dst(), protocol: block.protocol() };
                block.set_clock(true);
                block.eval();
                answer
            };
            // It takes a frame a cycle.
            let frames = group.frames.iter().map(|(frame, _)| Some(frame.bytes.as_slice()));
            frames.chain(std::iter::repeat_n(None, LATENCY)).map(&mut cycle).skip(LATENCY).collect()
        }
    };
}

opinion!(parse, Parse);
opinion!(parse_group_bit, ParseGroupBit);
opinion!(parse_type_min, ParseTypeMin);
opinion!(parse_broadcast, ParseBroadcast);
opinion!(parse_raw, ParseRaw);
