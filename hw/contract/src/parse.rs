//! The rules behind the L3, L4, checksum and hash fields of a completion.
//!
//! A field is either right or says "none" (0): nothing is guessed. All offsets are in the frame *as delivered*, without a
//! stripped tag. "Inside" means that every byte of a header lies in the frame, before the end of the network packet that
//! carries it, and in the frame's first [`WINDOW`] bytes. CLASSIFIED is 1 for every frame of 14 bytes or more; what follows
//! is reported by the fields themselves.
//!
//! **L3** is looked for on Ethernet II frames, by the type behind the VLAN tags that VLAN counts. L3_OFFSET is 14, and 4 more
//! for each counted tag that is still there.
//! - *IPv4* (0x0800): 20 bytes inside, version 4, header length field 5 or more, header inside, total length at least the
//!   header and at most what the frame holds: what `ip_rcv()` accepts (Linux, net/ipv4/ip_input.c), checksum apart.
//! - *IPv6* (0x86DD): 40 bytes inside, version 6, payload length at most what the frame holds behind the header.
//! - *ARP* (0x0806), whatever it contains. *Other*: any other type. *None*: not Ethernet II, or a packet that claims to be IPv4
//!   or IPv6 and breaks a rule above.
//!
//! The packet ends at its total length (IPv4), or payload length + 40 (IPv6); what is behind is padding.
//!
//! **Extension headers** (RFC 8200, section 4): hop-by-hop 0, routing 43, destination 60 (length unit 8 bytes, the first not
//! counted), fragment 44 (8 bytes), authentication 51 (unit 4 bytes, the first two not counted; RFC 4302; also over IPv4,
//! where it counts as L4 *other* and is not walked). Up to [`MAX_EXTENSIONS`] are walked, in any order, each inside. A
//! header that is not inside, or one more, ends the walk: L4 is none. So does a fragment header whose offset is not 0.
//! *No next header* (59) is L4 none.
//!
//! **L3OPT**: IPv4 header length over 5; IPv6: at least one extension header walked. **FRAG**: more-fragments set or offset not
//! 0. A fragment that is not the first has L4 none; the first has its L4, but no checksum verdict and no ACK.
//!
//! **L4**, by the protocol number behind all that was walked:
//! - *TCP* 6: 20 bytes, data offset 5 or more, header inside. *UDP* 17: 8 bytes inside. *ICMP*: 1 over IPv4, 58 over IPv6, 8
//!   bytes inside. *SCTP* 132: 12 bytes inside. If its header is not inside: none.
//! - *Other*: any other number (41, 47, 50, 51 over IPv4, …).
//!
//! **HEADER_LENGTH**: the end of the last header understood: L4 (TCP data offset · 4, UDP 8, ICMP 8, SCTP 12); else of the network
//! header with the extension headers walked, each wholly inside; else (L3 none, ARP, other) L3_OFFSET.
//!
//! **ACK**: TCP, no fragment, and the packet ends with the TCP header.
//!
//! **IPCSUM**: good or bad for L3 IPv4; else not checked. **L4CSUM**: good or bad for TCP, and for UDP whose length field is what
//! the packet holds and whose checksum is not 0; over IPv4 and IPv6 (pseudo header: RFC 9293 section 3.1, RFC 8200 section 8.1);
//! not for fragments, and not when a routing header has segments left, since then the final destination is another.
//! It does not depend on IPCSUM. Everything else is not checked.
//!
//! **Raw checksum**: the one's-complement sum of 16-bit big-endian words from byte 14 to the end of the frame, padding included,
//! an odd last byte padded with 0; never complemented. It is what Linux calls CHECKSUM_COMPLETE. A sum that is 0 modulo 0xFFFF is
//! shown as 0xFFFF, or 0 when every byte is 0 or there is none.
//!
//! **RSS**: Toeplitz with [`RSS_KEY`], over source address, destination address and, for the types with ports, source port and
//! destination port, in network order. The type with ports is taken when enabled and the packet is no fragment with
//! L4 TCP or UDP; else the type with addresses only, when enabled; else none: hash 0 and the default queue. The queue is
//! the indirection table's entry at hash mod 128. The addresses are those of the network header.

/// First bytes of a frame, as delivered, that are looked at for headers.
pub const WINDOW: usize = 128;
/// IPv6 extension headers that are walked.
pub const MAX_EXTENSIONS: usize = 4;

/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// EtherType of ARP.
pub const ETHERTYPE_ARP: u16 = 0x0806;
/// EtherType of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86DD;

/// Values of the status field L3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum L3 {
    /// Not Ethernet II, or malformed.
    #[default]
    None = 0,
    /// IPv4.
    Ipv4 = 1,
    /// IPv6.
    Ipv6 = 2,
    /// ARP.
    Arp = 3,
    /// Another type.
    Other = 4,
}

/// Values of the status field L4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum L4 {
    /// No transport header, or none that is whole.
    #[default]
    None = 0,
    /// TCP.
    Tcp = 1,
    /// UDP.
    Udp = 2,
    /// ICMP over IPv4, ICMPv6 over IPv6.
    Icmp = 3,
    /// SCTP.
    Sctp = 4,
    /// Another protocol.
    Other = 5,
}

/// Values of the status fields IPCSUM and L4CSUM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Checksum {
    /// Not checked: software decides.
    #[default]
    NotChecked = 0,
    /// Right.
    Good = 1,
    /// Wrong.
    Bad = 2,
}

/// What the RSS hash was computed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum RssType {
    /// No hash.
    #[default]
    None = 0,
    /// IPv4 addresses.
    Ipv4 = 1,
    /// IPv4 addresses and TCP ports.
    Tcp4 = 2,
    /// IPv4 addresses and UDP ports.
    Udp4 = 3,
    /// IPv6 addresses.
    Ipv6 = 4,
    /// IPv6 addresses and TCP ports.
    Tcp6 = 5,
    /// IPv6 addresses and UDP ports.
    Udp6 = 6,
}

/// The key of the Toeplitz hash: the one with published verification vectors (Microsoft, "Verifying the RSS hash
/// calculation").
pub const RSS_KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
    0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];
