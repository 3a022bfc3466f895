//! The device's side of the root complex: beats become TLPs, TLPs are checked, delivered ones are noted.

use crate::codec::{reserved_bits, DecodeError};
use crate::credits::Cost;
use crate::downstream::Flying;
use crate::root_complex::RootComplex;
use crate::rules::{Rule, RuleSet, Violation};
use crate::stream::Beat;
use crate::tlp::{Header, Kind, Tlp};

/// Violations kept; later ones are only counted.
const KEPT_VIOLATIONS: usize = 1000;

impl RootComplex {
    /// A beat of the device.
    pub(crate) fn take_beat(&mut self, beat: &Beat) {
        if self.framer.received == 0 {
            // An MRd is known by its first byte: 3 or 4 DW, no data, type 0.
            self.framing_nonposted = beat.data[0] & 0xDF == 0;
            if self.framing_nonposted {
                if !self.np_ready {
                    self.framer.broken.add(Rule::NonPostedCredit);
                }
                self.upstream.credits.take(Cost::NONPOSTED);
            }
        }
        if self.framer.push(beat) {
            self.take_framed();
        }
    }

    /// The framer holds a whole TLP: check it and put it into the transmit buffer.
    fn take_framed(&mut self) {
        let mut broken = self.framer.broken;
        let bytes = self.framer.bytes();
        let mut payload = self.pool.take();
        let decoded = match Tlp::decode_into(bytes, &mut payload) {
            Err(DecodeError::Length { expected, .. }) => Err(DecodeError::Length {
                expected,
                actual: self.framer.received,
            }),
            other => other,
        };
        match &decoded {
            Ok(_) => broken.add_if(reserved_bits(bytes), Rule::ReservedBits),
            Err(DecodeError::Length { .. }) => broken.add(Rule::LengthMismatch),
            Err(_) => broken.add(Rule::TlpType),
        }
        self.framer.clear();
        match decoded {
            Ok(header) => {
                self.report(self.now, Ok(header), broken);
                self.accept(Tlp { header, payload });
            }
            Err(error) => {
                self.report(self.now, Err(error), broken);
                self.pool.give(payload);
                if self.framing_nonposted {
                    self.upstream.credits.give_back(self.now, Cost::NONPOSTED);
                }
            }
        }
    }

    /// A well-formed TLP of the device.
    fn accept(&mut self, tlp: Tlp) {
        let broken = self.checker.check(&tlp.header);
        self.report(self.now, Ok(tlp.header), broken);
        if tlp.header.kind() == Kind::Cfg {
            self.pool.give(tlp.payload); // nothing here to configure, and no credits for it
        } else {
            self.upstream.accept(self.now, tlp);
        }
    }

    pub(crate) fn report(
        &mut self,
        at_ps: u64,
        header: Result<Header, DecodeError>,
        broken: RuleSet,
    ) {
        if broken.is_empty() {
            return;
        }
        for rule in broken.iter() {
            self.violation_count += 1;
            if self.violations.len() < KEPT_VIOLATIONS {
                self.violations.push(Violation {
                    rule,
                    at_ps,
                    header,
                });
            }
        }
    }

    /// The device has taken a TLP.
    pub(crate) fn delivered(&mut self, done: Flying) {
        self.watch_delivery(&done.tlp, done.closes);
        self.pool.give(done.tlp.payload);
    }

    /// Gives the root complex a whole TLP of the device, past the stream and past `tx_ready`. For tests
    /// at TLP level.
    pub fn push_tlp(&mut self, tlp: Tlp) {
        if self.removed {
            return;
        }
        if tlp.header.kind() == Kind::MRd {
            self.upstream.credits.take(Cost::NONPOSTED);
        }
        self.next_event = 0;
        self.accept(tlp);
    }

    /// Takes a whole TLP for the device, past the stream, if one has arrived. For tests at TLP level.
    pub fn take_tlp(&mut self) -> Option<Tlp> {
        let done = self.downstream.take_whole(self.now)?;
        self.watch_delivery(&done.tlp, done.closes);
        self.downstream.present(self.now);
        self.next_event = 0;
        Some(done.tlp)
    }
}
