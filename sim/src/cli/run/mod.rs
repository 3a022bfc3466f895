//! `ferronic-sim run`.

mod filter;
mod output;
mod parse;
mod pause;
mod policy;
mod queues;
mod steer;
mod traffic;

use clap::Args as ClapArgs;
use ferronic_pcie::{Link, Settings, Splits};
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::models::nic_core_trace::NicCoreTrace;
use ferronic_sim::run::{run as simulate, Direction, Prepare, Run, Watcher};
use output::{progress_bar, Lines};
use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;

#[derive(ClapArgs)]
pub struct Args {
    /// Seed of power-up state, completion splits and order, and generated and fuzzed traffic
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    traffic: traffic::Traffic,
    #[command(flatten)]
    queues: queues::Queues,
    #[command(flatten)]
    steer: steer::Steer,
    #[command(flatten)]
    pause: pause::Pause,
    #[command(flatten)]
    policies: policy::Policies,
    #[command(flatten)]
    bus: Bus,
    #[command(flatten)]
    output: output::Output,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Bus")]
struct Bus {
    /// The link: gen1x1 to gen4x16
    #[arg(long, value_name = "LINK", default_value = "gen1x1", value_parser = link)]
    link: Link,
    /// Time from a read request to its completion in an idle system, beside the transfer itself
    #[arg(long, value_name = "NS", default_value_t = 1000)]
    latency_ns: u32,
}

fn link(text: &str) -> Result<Link, String> {
    Link::parse(text).map_err(|error| error.to_string())
}

impl Args {
    /// What is done to the open device.
    fn prepare(&self) -> Prepare {
        let (steer, pause, mbps) = (self.steer.clone(), self.pause.clone(), self.traffic.line_mbps);
        Box::new(move |nic| {
            steer.apply(nic)?;
            pause.apply(nic, mbps)
        })
    }
}

/// Runs; true when nothing mismatched.
pub fn run(args: Args) -> Result<bool, Box<dyn Error>> {
    let mut driver = args.queues.config()?;
    for rx in &mut driver.rx {
        rx.policy = args.policies.policy(rx.policy, args.traffic.line_mbps);
    }
    args.queues.check_unserved()?;
    args.steer.check(&args.queues)?;
    let input = args.traffic.input()?;
    let direction = args.traffic.direction();
    let setup = Run {
        driver,
        pcie: Settings {
            link: args.bus.link,
            latency_ns: args.bus.latency_ns,
            seed: args.seed,
            splits: Splits::Random,
            reorder: true,
            ..Settings::default()
        },
        line: args.traffic.line(),
        pace: input.pace(),
        prepare: Some(args.prepare()),
        unserved: args.queues.unserved.clone(),
        direction,
        received: args.output.received.clone(),
        sent: args.output.sent.clone(),
        waveform: args.output.fst.clone(),
        ..Run::default()
    };

    let bar = progress_bar(input.count() * if direction == Direction::Echo { 2 } else { 1 });
    let lines = args.output.frames.as_deref().map(Lines::create).transpose()?.map(|lines| Rc::new(RefCell::new(lines)));
    let writer = lines.clone();
    let mut watcher = Watcher {
        progress: &mut |settled| bar.set_position(settled),
        frame: writer.map(|lines| Box::new(move |_: &_, line: &_| lines.borrow_mut().write(line)) as _),
    };
    let frames = input.frames(args.seed, args.queues.own_mac);
    let report = match args.output.fst {
        Some(_) => simulate::<NicCoreTrace, 8>(&setup, frames, &mut watcher)?,
        None => simulate::<NicCore, 8>(&setup, frames, &mut watcher)?,
    };
    bar.finish_and_clear();
    if let Some(lines) = lines {
        lines.borrow_mut().finish()?;
    }
    args.output.show(&report)?;
    Ok(report.mismatches == 0)
}
