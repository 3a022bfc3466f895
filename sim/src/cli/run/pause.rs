//! Flow control by PAUSE frames.

use clap::{Args, ValueEnum};
use ferronic::{Error, FlowControl, Nic};

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// Asks the other side for a pause before frames are lost
    Send,
    /// Sends nothing while the other side asks for a pause; such frames are not delivered
    Honour,
    /// Both
    Both,
}

#[derive(Args, Clone)]
#[command(next_help_heading = "Flow control")]
pub struct Pause {
    /// PAUSE frames
    #[arg(long, value_enum)]
    pause: Option<Way>,
    /// Bytes in the RX packet FIFO at which PAUSE is sent, 64 to the whole of it [default: half of it]
    #[arg(long, value_name = "BYTES", requires = "pause")]
    pause_high: Option<u32>,
    /// Bytes at which it may go on, 0 to 64 below the high mark [default: half the high mark]
    #[arg(long, value_name = "BYTES", requires = "pause")]
    pause_low: Option<u32>,
    /// Pause asked for, 0 to 65535 times 512 bit times; asked again after half of it
    #[arg(long, value_name = "QUANTA", default_value_t = u16::MAX, requires = "pause")]
    pause_quanta: u16,
}

impl Pause {
    /// Sets an open device up, on a wire of this rate.
    pub fn apply(&self, nic: &mut Nic, mbps: u32) -> Result<(), Error> {
        let Some(way) = self.pause else { return Ok(()) };
        let high = self.pause_high.unwrap_or(nic.features().rx_fifo_bytes() / 2);
        nic.set_flow_control(&FlowControl {
            send: !matches!(way, Way::Honour),
            honour: !matches!(way, Way::Send),
            mbps,
            quanta: self.pause_quanta,
            high,
            low: self.pause_low.unwrap_or(high / 2),
        })
    }
}
