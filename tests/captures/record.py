"""The cable and the traffic of record.sh: carries frames between two namespaces and records them.

usage: record.py HOST_NAMESPACE PEER_NAMESPACE FILE

TAP devices without IFF_VNET_HDR offer the stack no offload: every frame comes out segmented, with its
checksums complete, as a wire would have it. The tags are put in on the cable, as the trunk port of a switch
does, because not every kernel has VLAN devices.
"""

import ctypes
import fcntl
import os
import select
import socket
import struct
import sys
import threading
import time

TUNSETIFF = 0x400454CA
IFF_TAP_NO_PI = 0x0002 | 0x1000
CLONE_NEWNET = 0x40000000
IP_RECORD_ROUTE = bytes([7, 11, 4]) + bytes(8) + b"\0"
TAGS = {
    "plain": b"",
    "vlan": struct.pack(">HH", 0x8100, 3 << 13 | 5),
    "qinq": struct.pack(">HHHH", 0x88A8, 100, 0x8100, 5),
}
LIBC = ctypes.CDLL(None, use_errno=True)


class Namespace:
    """Makes what it makes inside a network namespace: `with namespace: …`."""

    def __init__(self, name):
        self.inside = os.open(f"/run/netns/{name}", os.O_RDONLY)
        self.outside = os.open("/proc/thread-self/ns/net", os.O_RDONLY)

    def _enter(self, fd):
        if LIBC.setns(fd, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def __enter__(self):
        self._enter(self.inside)

    def __exit__(self, *_):
        self._enter(self.outside)

    def socket(self, family, kind, protocol=0, bind=None):
        with self:
            made = socket.socket(family, kind, protocol)
        made.settimeout(5)
        if bind:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(bind)
        return made

    def tap(self, name):
        with self:
            fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP_NO_PI))
        return fd


class Cable(threading.Thread):
    """Carries frames both ways between two namespaces and writes each to a capture."""

    def __init__(self, host, peer, path):
        super().__init__(daemon=True)
        self.ends = {}
        for name, tag in TAGS.items():
            a, b = host.tap(name), peer.tap(name)
            self.ends[a] = (b, tag)
            self.ends[b] = (a, tag)
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        self.frames = 0
        self.stopping = False

    def run(self):
        while not self.stopping:
            for fd in select.select(list(self.ends), [], [], 0.1)[0]:
                frame = os.read(fd, 65536)
                other, tag = self.ends[fd]
                self.record(frame[:12] + tag + frame[12:])
                os.write(other, frame)

    def record(self, frame):
        seconds, ns = divmod(time.time_ns(), 10**9)
        self.file.write(struct.pack("<IIII", seconds, ns // 1000, len(frame), len(frame)) + frame)
        self.frames += 1

    def stop(self):
        self.stopping = True
        self.join()
        self.file.close()


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ping(source, address, count, size, options=b""):
    """Echo requests; the kernel of the other namespace answers."""
    version6 = ":" in address
    protocol = socket.IPPROTO_ICMPV6 if version6 else socket.IPPROTO_ICMP
    with source.socket(family(address), socket.SOCK_RAW, protocol) as raw:
        if options:
            raw.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, options)
        for number in range(count):
            body = bytes(i & 0xFF for i in range(size))
            packet = struct.pack(">BBHHH", 128 if version6 else 8, 0, 0, 0xFE, number) + body
            if not version6:  # the kernel fills in the one of ICMPv6
                packet = packet[:2] + struct.pack(">H", checksum(packet)) + packet[4:]
            raw.sendto(packet, (address, 0))
            time.sleep(0.02)


def udp_echo(client, server, address, sizes):
    with server.socket(family(address), socket.SOCK_DGRAM, bind=(address, 7000)) as far:
        with client.socket(family(address), socket.SOCK_DGRAM) as near:
            for size in sizes:
                near.sendto(bytes(i & 0xFF for i in range(size)), (address, 7000))
                data, back = far.recvfrom(65536)
                far.sendto(data, back)
                near.recvfrom(65536)


def tcp_echo(client, server, address, size):
    """Sends `size` bytes and gets them back on one connection, closed in order."""

    def serve(listener):
        connection, _ = listener.accept()
        with connection:
            data = b""
            while len(data) < size:
                data += connection.recv(65536)
            connection.sendall(data)

    with server.socket(family(address), socket.SOCK_STREAM, bind=(address, 7001)) as listener:
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        with client.socket(family(address), socket.SOCK_STREAM) as near:
            near.connect((address, 7001))
            near.sendall(bytes(i & 0xFF for i in range(size)))
            got = 0
            while got < size:
                got += len(near.recv(65536))
        thread.join()


def refused(client, address):
    """A TCP reset and an ICMP port unreachable."""
    with client.socket(family(address), socket.SOCK_STREAM) as near:
        near.connect_ex((address, 7999))
    with client.socket(family(address), socket.SOCK_DGRAM) as near:
        near.sendto(b"nobody listens", (address, 7999))
    time.sleep(0.05)


def to_all(host, peer):
    """Broadcast and multicast, with the group reports of the receiver."""
    with peer.socket(socket.AF_INET, socket.SOCK_DGRAM, bind=("10.99.0.2", 0)) as near:
        near.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        near.sendto(b"to everyone", ("10.99.0.255", 7002))
        with host.socket(socket.AF_INET, socket.SOCK_DGRAM, bind=("", 7003)) as member:
            group = socket.inet_aton("239.9.9.9") + socket.inet_aton("10.99.0.1")
            member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
            near.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.99.0.2"))
            near.sendto(b"to the group", ("239.9.9.9", 7003))
            member.recv(100)


def wait_for_network(names):
    """Until spanning tree forwards and no IPv6 address is tentative any more."""
    state = f"ip netns exec {names[1]} cat /sys/class/net/plain/brport/state"
    tentative = [f"ip -n {name} -6 address show tentative" for name in names]
    deadline = time.monotonic() + 20
    while os.popen(state).read().strip() != "3" or any(os.popen(command).read() for command in tentative):
        if time.monotonic() > deadline:
            sys.exit("record.py: spanning tree or the IPv6 addresses were not ready within 20 s")
        time.sleep(0.2)


def main():
    host_name, peer_name, path = sys.argv[1:]
    host, peer = Namespace(host_name), Namespace(peer_name)
    cable = Cable(host, peer, path)
    cable.start()
    wait_for_network([host_name, peer_name])

    for net in range(3):
        for address in (f"10.99.{net}.2", f"fd99:{net}::2"):
            ping(host, address, 2, 56)
            ping(peer, address[:-1] + "1", 1, 0)
            udp_echo(host, peer, address, [0, 18, 1452])
            tcp_echo(host, peer, address, 4000)
    ping(host, "10.99.0.2", 1, 56, IP_RECORD_ROUTE)
    for address in ("10.99.0.2", "fd99:0::2"):
        udp_echo(peer, host, address[:-1] + "1", [3000])  # fragments
        refused(host, address)
    to_all(host, peer)
    time.sleep(2)  # two more hellos of spanning tree
    cable.stop()
    print(f"record.py: {cable.frames} frames")


main()
