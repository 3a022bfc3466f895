//! What each feature costs: the core with it less the core without it, by yosys alone.

use super::report::Area;
use super::Flow;
use anyhow::{Context, Result};
use ferronic_contract::field::Field;
use ferronic_contract::registers as r;
use ferronic_hw::core;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A feature and what a build without it must leave out as well, because it needs it.
const FEATURES: [(Field, &[Field]); 9] = [
    (r::FEATURE_L3, &[r::FEATURE_CHECKSUM, r::FEATURE_RSS, r::FEATURE_FILTER]),
    (r::FEATURE_CHECKSUM, &[]),
    (r::FEATURE_RSS, &[]),
    (r::FEATURE_FILTER, &[]),
    (r::FEATURE_STRIP, &[]),
    (r::FEATURE_SPLIT, &[]),
    (r::FEATURE_COMPACT, &[]),
    (r::FEATURE_FLOW, &[]),
    (r::FEATURE_TIME, &[]),
];

/// One line of the table.
#[derive(Serialize)]
struct Cost {
    what: String,
    lut4: i64,
    ff: i64,
    ebr: i64,
}

/// The table.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Costs(Vec<Cost>);

impl Costs {
    /// # Errors
    ///
    /// yosys fails.
    pub fn measure() -> Result<Self> {
        let mut known = BTreeMap::new();
        let mut area = |features: u32, queues: usize| -> Result<Area> {
            if let Some(area) = known.get(&(features, queues)) {
                return Ok(*area);
            }
            let verilog = core::build(features, queues, super::CORE).context("no such build")?;
            let area = Flow::new(super::CORE, &verilog, true)?.area()?;
            known.insert((features, queues), area);
            Ok(area)
        };
        let all = core::ALL_FEATURES;
        let whole = area(all, 4)?;
        let mut rows = vec![Cost::new("the core, 4 RX queues", whole, Area::default(), 1)];
        for (feature, users) in FEATURES {
            let with = users.iter().fold(all, |features, user| features & !user.mask());
            let cost = Cost::new(feature.name, area(with, 4)?, area(with & !feature.mask(), 4)?, 1);
            rows.push(cost);
        }
        rows.push(Cost::new("each further RX queue", whole, area(all, 1)?, 3));
        Ok(Self(rows))
    }
}

impl Cost {
    fn new(what: &str, with: Area, without: Area, parts: i64) -> Self {
        let less = |with: usize, without: usize| (with as i64 - without as i64) / parts;
        Self {
            what: what.into(),
            lut4: less(with.lut4, without.lut4),
            ff: less(with.ff, without.ff),
            ebr: less(with.ebr, without.ebr),
        }
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24}{:>8}{:>8}{:>6}", "feature", "LUT4", "FF", "EBR")?;
        self.0.iter().try_for_each(|cost| writeln!(f, "{:<24}{:>8}{:>8}{:>6}", cost.what, cost.lut4, cost.ff, cost.ebr))
    }
}
