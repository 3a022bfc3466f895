//! A TAP interface in a network namespace of its own, and what the kernel makes of frames that arrive on it.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, IoSliceMut, Write};
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};

use ferronic_contract::class::Mac;
use ferronic_tests::oracle::Answer;
use nix::libc;
use nix::sched::{unshare, CloneFlags};
use nix::sys::socket::{
    recvmsg, setsockopt, socket, sockopt, AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag,
    SockProtocol, SockType,
};
use nix::sys::time::TimeVal;

/// `PACKET_AUXDATA` (include/uapi/linux/if_packet.h).
const PACKET_AUXDATA: libc::c_int = 8;
/// `struct tpacket_auxdata`: three words, then four half words, of which the last two are the tag's.
type AuxData = [u8; 20];
/// `TP_STATUS_VLAN_VALID | TP_STATUS_VLAN_TPID_VALID`.
const TAG_VALID: u32 = 0x10 | 0x40;
/// `PACKET_OUTGOING`: a frame of the kernel's own.
const OUTGOING: u8 = 4;

// The size in TUNSETIFF's number is that of an int, though it takes an ifreq (include/uapi/linux/if_tun.h).
nix::ioctl_write_ptr_bad!(tun_set_interface, nix::request_code_write!(b'T', 202, size_of::<libc::c_int>()), libc::ifreq);
nix::ioctl_write_ptr_bad!(set_hardware_address, libc::SIOCSIFHWADDR, libc::ifreq);
nix::ioctl_write_ptr_bad!(set_flags, libc::SIOCSIFFLAGS, libc::ifreq);

/// A TAP interface and a packet socket that hears it.
pub struct Tap {
    tap: File,
    packets: OwnedFd,
}

impl Tap {
    /// An interface with this address. This thread leaves the machine's network for good, and everything that is
    /// made here vanishes with the thread.
    ///
    /// # Errors
    ///
    /// What the system does not let this process do.
    pub fn new(own: &Mac) -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        // Interfaces go to the namespace in which the file was opened.
        let tap = File::options().read(true).write(true).open("/dev/net/tun")?;
        let request = |ifr_ifru| {
            let mut ifr_name = [0; libc::IFNAMSIZ];
            ifr_name[..3].copy_from_slice(&b"fe0".map(|byte| byte as libc::c_char));
            libc::ifreq { ifr_name, ifr_ifru }
        };
        let flags = |flags: libc::c_int| request(libc::__c_anonymous_ifr_ifru { ifru_flags: flags as libc::c_short });
        let mut sa_data = [0; 14];
        sa_data[..6].copy_from_slice(&own.map(|byte| byte as libc::c_char));
        let address = libc::sockaddr { sa_family: libc::ARPHRD_ETHER, sa_data };
        let address = request(libc::__c_anonymous_ifr_ifru { ifru_hwaddr: address });

        // SAFETY: the descriptor is open, and the kernel reads one whole ifreq with the member that TUNSETIFF
        // takes set.
        unsafe { tun_set_interface(tap.as_raw_fd(), &flags(libc::IFF_TAP | libc::IFF_NO_PI)) }?;
        let packets = socket(AddressFamily::Packet, SockType::Raw, SockFlag::empty(), SockProtocol::EthAll)?;
        // SAFETY: as above; SIOCSIFHWADDR takes the hardware address.
        unsafe { set_hardware_address(packets.as_raw_fd(), &address) }?;
        // SAFETY: as above; SIOCSIFFLAGS takes the flags.
        unsafe { set_flags(packets.as_raw_fd(), &flags(libc::IFF_UP)) }?;
        setsockopt(&packets, sockopt::ReceiveTimeout, &TimeVal::new(2, 0))?;
        let on: libc::c_int = 1;
        // SAFETY: the socket is open, and `on` is as long as the call is told.
        let done = unsafe {
            let length = size_of::<libc::c_int>() as libc::socklen_t;
            libc::setsockopt(packets.as_raw_fd(), libc::SOL_PACKET, PACKET_AUXDATA, (&raw const on).cast(), length)
        };
        nix::errno::Errno::result(done)?;
        Ok(Self { tap, packets })
    }

    /// Lets a frame arrive, and says what `eth_type_trans()` made of it.
    ///
    /// # Errors
    ///
    /// The kernel refused the frame, or did not show it within two seconds.
    pub fn ask(&mut self, frame: &[u8]) -> io::Result<Answer> {
        self.tap.write_all(frame)?;
        loop {
            let mut bytes = vec![0; frame.len() + 1];
            let mut buffers = [IoSliceMut::new(&mut bytes)];
            let mut control = nix::cmsg_space!(AuxData);
            let message =
                recvmsg::<LinkAddr>(self.packets.as_raw_fd(), &mut buffers, Some(&mut control), MsgFlags::empty())?;
            let from = message.address.ok_or_else(|| io::Error::other("a packet from nowhere"))?;
            if from.pkttype() == OUTGOING {
                continue;
            }
            // The kernel takes an outer VLAN tag off before packet sockets see the frame.
            let tag = message.cmsgs()?.find_map(|message| match message {
                ControlMessageOwned::Unknown(unknown) => tag(&unknown.data_bytes),
                _ => None,
            });
            let expected = match tag {
                Some(tag) if frame.get(12..16) == Some(&tag) => [&frame[..12], &frame[16..]].concat(),
                _ => frame.to_vec(),
            };
            let length = message.bytes;
            if bytes[..length] != expected {
                return Err(io::Error::other(format!("another frame came back: {:02x?}", &bytes[..length])));
            }
            let protocol = tag.map_or(u16::from_be(from.protocol()), |[a, b, ..]| u16::from_be_bytes([a, b]));
            return Ok(Answer { pkt_type: from.pkttype(), protocol });
        }
    }
}

/// The tag's four bytes on the wire, TPID and TCI, where the auxiliary data has one.
fn tag(aux: &[u8]) -> Option<[u8; 4]> {
    let aux: &AuxData = aux.first_chunk()?;
    let status = u32::from_ne_bytes(*aux.first_chunk()?);
    let half = |at: usize| u16::from_ne_bytes([aux[at], aux[at + 1]]).to_be_bytes();
    let ([a, b], [c, d]) = (half(18), half(16));
    (status & TAG_VALID == TAG_VALID).then_some([a, b, c, d])
}
