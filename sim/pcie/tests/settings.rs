//! Links by name, and settings that are refused.

use ferronic_pcie::{Credits, Link, Settings};

#[test]
fn links_have_their_rates() {
    for (name, rate) in [
        ("gen1x1", 250_000_000),
        ("gen1x4", 1_000_000_000),
        ("gen2x1", 500_000_000),
        ("gen3x1", 984_615_384),
        ("gen3x8", 7_876_923_076),
        ("gen4x16", 31_507_692_307),
    ] {
        let link = Link::parse(name).unwrap();
        assert_eq!(link.to_string(), name);
        let measured = link.bytes_per_second();
        assert!(
            measured.abs_diff(rate) * 10_000 < rate,
            "{name}: {measured}"
        );
    }
    for name in ["gen5x1", "gen1x3", "gen1", "x1", "Gen1x1", ""] {
        let error = Link::parse(name).unwrap_err().to_string();
        assert!(
            error.contains(&format!("'{name}'")) && error.contains("gen4"),
            "{error}"
        );
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let error = |settings: Settings| {
        ferronic_pcie::RootComplex::new(settings)
            .unwrap_err()
            .to_string()
    };
    let bits = error(Settings {
        stream_bits: 32,
        ..Settings::default()
    });
    assert!(
        bits.contains("stream_bits is 32; legal: 64, 128, 256, 512"),
        "{bits}"
    );
    let credits = Credits {
        posted_data: 0,
        ..Settings::default().credits
    };
    let zero = error(Settings {
        credits,
        ..Settings::default()
    });
    assert!(zero.contains("posted_data is 0"), "{zero}");
    let boundary = error(Settings {
        read_completion_boundary: 32,
        ..Settings::default()
    });
    assert!(
        boundary.contains("read_completion_boundary is 32"),
        "{boundary}"
    );
}
