//! The rules that a TLP from the device must keep, each with its section of the PCI Express Base
//! Specification.

use crate::codec::DecodeError;
use crate::tlp::{Bdf, Body, Header, MemoryRequest};
use std::fmt;

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident: $section:literal, $text:literal;)*) => {
        /// A rule for TLPs from the device.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Rule {
            $(#[doc = concat!($text, " (", $section, ").")] $name,)*
        }

        impl Rule {
            const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Where the rule is written: a section of the PCI Express Base Specification, or the
            /// definition of the TLP stream.
            pub const fn section(self) -> &'static str {
                match self { $(Self::$name => $section,)* }
            }

            /// The rule in words.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

rules! {
    Framing: "TLP stream", "keep has no gap, is full on every beat but the last, and names existing lanes";
    TlpType: "section 2.2.1", "an endpoint sends MRd, MWr, Cpl, CplD, Msg and MsgD only, with defined fields";
    LengthMismatch: "section 2.2.2", "the length field equals the data that follows";
    ReservedBits: "section 2.2.1", "reserved fields of a header are 0";
    PayloadTooLong: "section 2.2.2", "a payload is not longer than Max_Payload_Size";
    ReadTooLong: "section 2.2.7", "a read asks for no more than Max_Read_Request_Size";
    Crosses4K: "section 2.2.7", "a memory request does not cross a 4 KiB boundary";
    AddressFormat: "section 2.2.4.1", "an address below 4 GiB uses the 3 DW header";
    AddressType: "section 2.2.4.1", "the address type is 0 unless address translation is enabled";
    LastByteEnables: "section 2.2.5", "last BE is 0 in a request of one DW and not 0 in a longer one";
    FirstByteEnables: "section 2.2.5", "first BE is not 0 in a request of more than one DW";
    ByteEnablesGap: "section 2.2.5", "byte enables have gaps only in requests of one DW or one aligned QW";
    TagInUse: "section 2.2.6.2", "a tag is not used again while its request is outstanding";
    TagTooBig: "section 2.2.6.2", "tags are below 32 unless extended tags are enabled";
    RequesterId: "section 2.2.6.2", "the requester ID is the bus, device and function of the device";
    BusMaster: "section 7.5.1.1", "a function sends no memory request while bus master enable is 0";
    NonPostedCredit: "section 2.6.1", "a non-posted request begins only while credits (np_ready) allow it";
    InterruptWrite: "section 6.1.4", "a message signalled interrupt is a write of one whole DW";
    UnknownRequest: "section 2.3.2", "a completion answers an outstanding request of its requester ID and tag";
    CompleterId: "section 2.2.9", "the completer ID is the bus, device and function of the device";
    CompletionData: "section 2.2.9", "a successful read completion has data, no other completion has";
    ByteCount: "section 2.2.9", "byte count is what remains of the request, and 4 outside memory reads";
    LowerAddress: "section 2.2.9", "lower address is that of the first byte, and 0 outside memory reads";
    CompletionLength: "section 2.3.1.1", "a completion holds the rest of the request, or ends at a completion boundary";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text(), self.section())
    }
}

/// Rules that one TLP broke.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RuleSet(u32);

impl RuleSet {
    pub const NONE: Self = Self(0);

    pub fn add(&mut self, rule: Rule) {
        self.0 |= 1 << rule as u32;
    }

    pub fn add_if(&mut self, broken: bool, rule: Rule) {
        self.0 |= u32::from(broken) << rule as u32;
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Rule> {
        Rule::ALL
            .iter()
            .copied()
            .filter(move |rule| self.0 >> *rule as u32 & 1 != 0)
    }
}

/// A broken rule, with the TLP that broke it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// When the TLP was complete, in ps.
    pub at_ps: u64,
    /// The header, or why there is none.
    pub header: Result<Header, DecodeError>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "at {} ps the device broke the rule \"{}\": ",
            self.at_ps, self.rule
        )?;
        match &self.header {
            Ok(header) => write!(f, "{header:?}"),
            Err(error) => write!(f, "{error}"),
        }
    }
}

/// What configuration software has allowed the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Max_Payload_Size in bytes.
    pub max_payload: u16,
    /// Max_Read_Request_Size in bytes.
    pub max_read_request: u16,
    /// Extended Tag Field Enable.
    pub extended_tags: bool,
    /// Bus Master Enable.
    pub bus_master: bool,
}

impl Limits {
    /// As after reset (section 7.8.4).
    pub const RESET: Self = Self {
        max_payload: 128,
        max_read_request: 512,
        extended_tags: false,
        bus_master: false,
    };

    /// Everything that either of the two allows.
    pub(crate) fn union(self, other: Self) -> Self {
        Self {
            max_payload: self.max_payload.max(other.max_payload),
            max_read_request: self.max_read_request.max(other.max_read_request),
            extended_tags: self.extended_tags | other.extended_tags,
            bus_master: self.bus_master | other.bus_master,
        }
    }
}

/// Checks requests of the device and remembers its outstanding tags.
#[derive(Debug)]
pub(crate) struct Checker {
    pub device: Bdf,
    pub limits: Limits,
    outstanding: [u64; 4],
}

impl Checker {
    pub fn new(device: Bdf) -> Self {
        Self {
            device,
            limits: Limits::RESET,
            outstanding: [0; 4],
        }
    }

    pub fn is_outstanding(&self, tag: u8) -> bool {
        self.outstanding[usize::from(tag >> 6)] >> (tag & 63) & 1 != 0
    }

    /// A tag whose request is not outstanding, if there is one.
    pub fn free_tag(&self) -> Option<u8> {
        (0..=255).rev().find(|&tag| !self.is_outstanding(tag))
    }

    pub fn close(&mut self, tag: u8) {
        self.outstanding[usize::from(tag >> 6)] &= !(1 << (tag & 63));
    }

    /// Forgets everything, as a hot reset does.
    pub fn reset(&mut self) {
        *self = Self::new(self.device);
    }

    /// Checks a TLP of a type that may be sent, and opens the tag of a read.
    pub fn check(&mut self, header: &Header) -> RuleSet {
        let mut broken = RuleSet::NONE;
        broken.add_if(
            header.payload_bytes() > self.limits.max_payload.into(),
            Rule::PayloadTooLong,
        );
        match &header.body {
            Body::Memory(request) => self.check_memory(header, request, &mut broken),
            Body::Config(_) => broken.add(Rule::TlpType),
            Body::Message(m) => broken.add_if(m.requester != self.device, Rule::RequesterId),
            Body::Completion(_) => {} // checked against the request when it arrives
        }
        broken
    }

    fn check_memory(&mut self, header: &Header, r: &MemoryRequest, broken: &mut RuleSet) {
        let bytes = u64::from(header.length) * 4;
        broken.add_if(r.address % 4096 + bytes > 4096, Rule::Crosses4K);
        broken.add_if(r.wide && r.address >> 32 == 0, Rule::AddressFormat);
        broken.add_if(header.address_type != 0, Rule::AddressType);
        broken.add_if(r.requester != self.device, Rule::RequesterId);
        broken.add_if(!self.limits.bus_master, Rule::BusMaster);
        broken.add_if(
            (header.length == 1) != (r.last_be == 0),
            Rule::LastByteEnables,
        );
        if header.length > 1 {
            broken.add_if(r.first_be == 0, Rule::FirstByteEnables);
            let quad = header.length == 2 && r.address.is_multiple_of(8);
            let gap = !matches!(r.first_be, 0 | 0x8 | 0xC | 0xE | 0xF)
                || !matches!(r.last_be, 0 | 0x1 | 0x3 | 0x7 | 0xF);
            broken.add_if(gap && !quad, Rule::ByteEnablesGap);
        }
        if !r.write {
            broken.add_if(
                bytes > self.limits.max_read_request.into(),
                Rule::ReadTooLong,
            );
            broken.add_if(r.tag > 31 && !self.limits.extended_tags, Rule::TagTooBig);
            broken.add_if(self.is_outstanding(r.tag), Rule::TagInUse);
            self.outstanding[usize::from(r.tag >> 6)] |= 1 << (r.tag & 63);
        }
    }
}
