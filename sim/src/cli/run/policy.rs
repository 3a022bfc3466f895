//! How the driver receives: its policies as text.

use clap::Args;
use ferronic::{Classify, Prefetch, Rearm, Replenish, RxPolicy, Weight};

use super::parse;

/// Empty polls on end after which a delayed poll gives way to an interrupt.
const EMPTY_POLLS: u8 = 2;

#[derive(Args)]
#[command(next_help_heading = "Policies of the driver")]
pub struct Policies {
    /// When a used buffer is replaced in the RX ring: as-taken:N (at once, a doorbell every N), every:N (N at a time),
    /// at-end (of each poll) or low-water (when fewer than --low-water are left) [default: as-taken:8, fewer with a small ring]
    #[arg(long, value_name = "WHEN", value_parser = replenish)]
    replenish: Option<Replenish>,
    /// Who answers eth_type_trans(): software (from the header), status (the core, by status bits), or sampled:N (the core,
    /// and software checks one packet in N)
    #[arg(long, value_name = "WHO", default_value = "status", value_parser = classify)]
    classify: Classify,
    /// Headers asked for before they are touched: off, current, next, two-pass, or wanted (the next that will be touched).
    /// It costs and saves no simulated time
    #[arg(long, value_name = "WHICH", default_value = "wanted", value_parser = prefetch)]
    prefetch: Prefetch,
    /// Packets of up to so many bytes are copied, and their buffers go straight back to the ring: 0 (none) to 1518
    #[arg(long, value_name = "BYTES", default_value_t = RxPolicy::default().copybreak)]
    copybreak: u16,
    /// Most packets a poll, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=64))]
    weight: u16,
    /// When interrupts come back: under-budget (a poll found fewer than the weight), when-idle (it found none), or delayed:N
    /// (polls follow after the time of N shortest frames, until two on end found none)
    #[arg(long, value_name = "WHEN", default_value = "under-budget", value_parser = rearm)]
    rearm: Rule,
}

/// When interrupts come back. How long a delay is, the speed of the wire says.
#[derive(Clone, Copy)]
enum Rule {
    Plain(Rearm),
    Delayed { frames: u16 },
}

const LEGAL_NUMBER: &str = "the number is from 1 to 65535";

/// The number behind `name:`, if that is what the text is.
fn numbered(text: &str, name: &str) -> Option<Result<u16, String>> {
    let digits = text.strip_prefix(name)?.strip_prefix(':')?;
    Some(parse::number(digits).filter(|number| *number > 0).ok_or_else(|| LEGAL_NUMBER.into()))
}

fn replenish(text: &str) -> Result<Replenish, String> {
    if let Some(number) = numbered(text, "as-taken") {
        return Ok(Replenish::AsTaken { doorbell_every: number? });
    }
    if let Some(number) = numbered(text, "every") {
        return Ok(Replenish::Every(number?));
    }
    match text {
        "at-end" => Ok(Replenish::AtEnd),
        "low-water" => Ok(Replenish::OnLowWater),
        _ => Err("legal are as-taken:N, every:N, at-end and low-water".into()),
    }
}

fn classify(text: &str) -> Result<Classify, String> {
    if let Some(number) = numbered(text, "sampled") {
        return Ok(Classify::Sampled { every: number?.into() });
    }
    match text {
        "software" => Ok(Classify::Software),
        "status" => Ok(Classify::Status),
        _ => Err("legal are software, status and sampled:N".into()),
    }
}

fn prefetch(text: &str) -> Result<Prefetch, String> {
    match text {
        "off" => Ok(Prefetch::Off),
        "current" => Ok(Prefetch::Current),
        "next" => Ok(Prefetch::Next),
        "two-pass" => Ok(Prefetch::TwoPass),
        "wanted" => Ok(Prefetch::Wanted),
        _ => Err("legal are off, current, next, two-pass and wanted".into()),
    }
}

fn rearm(text: &str) -> Result<Rule, String> {
    if let Some(number) = numbered(text, "delayed") {
        return Ok(Rule::Delayed { frames: number? });
    }
    match text {
        "under-budget" => Ok(Rule::Plain(Rearm::UnderBudget)),
        "when-idle" => Ok(Rule::Plain(Rearm::WhenIdle)),
        _ => Err("legal are under-budget, when-idle and delayed:N".into()),
    }
}

impl Policies {
    /// The policy of each RX queue on a wire of this speed, where `usual` is that of its ring. The driver itself refuses
    /// what does not go with the ring.
    pub fn policy(&self, usual: RxPolicy, link_mbps: u32) -> RxPolicy {
        RxPolicy {
            replenish: self.replenish.unwrap_or(usual.replenish),
            classify: self.classify,
            prefetch: self.prefetch,
            copybreak: self.copybreak,
            weight: Weight::Fixed(self.weight),
            rearm: match self.rearm {
                Rule::Plain(rule) => rule,
                Rule::Delayed { frames } => Rearm::Delayed { link_mbps, frames, empty_polls: EMPTY_POLLS },
            },
            turn_usecs: usual.turn_usecs,
        }
    }
}
