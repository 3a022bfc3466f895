//! The window: a frame's first 128 bytes stand from the cycle behind its last beat until the next frame's first.
//!
//! Caught when tried: a window that is one word short.

use ferronic_bench::models::{window_512::Window512, window_64::Window64};
use ferronic_verilated::PowerUp;

/// Words of 32 bits that a beat of `words` carries, each with its place in the frame and the frame's number.
fn beat(frame: u32, number: usize, words: usize) -> impl Fn(usize) -> u32 {
    move |i| frame << 16 | (number * words + i) as u32
}

macro_rules! bench {
    ($test:ident, $block:ident, $words:literal, $data:expr) => {
        #[test]
        fn $test() {
            let mut block = $block::new(PowerUp::Random(1));
            let mut tick = |valid: bool, first: bool, data: [u32; $words], reset: bool| {
                block.set_reset(reset);
                block.set_beat_valid(valid);
                block.set_beat_first(first);
                block.set_beat_data($data(data));
                block.eval();
                let window = block.window();
                block.set_clock(true);
                block.eval();
                block.set_clock(false);
                block.eval();
                window
            };
            tick(false, false, [0; $words], true);
            let mut held: Option<(u32, usize)> = None;
            for frame in 1..400u32 {
                let beats = 1 + frame as usize * 7 % 37;
                for number in 0..beats {
                    // Gaps between frames and inside of them; nothing in a gap is taken.
                    for _ in 0..(frame as usize + number) % 3 {
                        let window = tick(false, number == 0, [0xDEAD_BEEF; $words], false);
                        check(&window, held.filter(|_| number == 0), $words);
                    }
                    let window = tick(true, number == 0, std::array::from_fn(beat(frame, number, $words)), false);
                    check(&window, held.filter(|_| number == 0), $words);
                }
                held = Some((frame, beats));
            }
        }
    };
}

bench!(at_64_bits, Window64, 2, |data: [u32; 2]| u64::from(data[0]) | u64::from(data[1]) << 32);
bench!(at_512_bits, Window512, 16, |data: [u32; 16]| data);

fn check(window: &[u32; 32], held: Option<(u32, usize)>, words: usize) {
    let Some((frame, beats)) = held else { return };
    for (i, word) in window.iter().enumerate().take(beats * words) {
        assert_eq!(*word, frame << 16 | i as u32, "frame {frame} of {beats} beats, word {i}");
    }
}
