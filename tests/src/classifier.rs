//! The core's classifier alone, as emitted, and with one bit of its rule changed in the Verilog.

use ferronic_verilated::PowerUp;

use crate::oracle::{Answer, Group};

/// The Verilated classifiers that the build script made.
pub mod models {
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}

/// An opinion on a group of frames.
pub type Opinion = fn(&Group) -> Vec<Answer>;

/// The classifier as it is.
pub const CLASSIFIER: Opinion = classify;

/// Each changed classifier, with the change.
pub const CHANGED: [(&str, Opinion); 4] = [
    ("bit 1 for the group bit", classify_group_bit),
    ("types from 0x0400 on", classify_type_min),
    ("0xfe for the bytes of the broadcast address", classify_broadcast),
    ("raw 802.3 by 0xfffe", classify_raw),
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
            // It takes a frame a cycle and answers two cycles later.
            let frames = group.frames.iter().map(|(frame, _)| Some(frame.bytes.as_slice()));
            frames.chain([None, None]).map(&mut cycle).skip(2).collect()
        }
    };
}

opinion!(classify, Classify);
opinion!(classify_group_bit, ClassifyGroupBit);
opinion!(classify_type_min, ClassifyTypeMin);
opinion!(classify_broadcast, ClassifyBroadcast);
opinion!(classify_raw, ClassifyRaw);
