#!/bin/sh
# Records demo.pcap anew: two network namespaces with real Linux stacks, joined by TAP devices. See README.md.
#   sudo ./record.sh [FILE]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/demo.pcap}
host=ferronic-host
peer=ferronic-peer
host_mac=02:fe:00:00:00:01
peer_mac=02:fe:00:00:00:02

fail() { echo "record.sh: $1" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail "must run as root: it makes network namespaces and TAP devices"
for tool in ip python3; do
    command -v "$tool" >/dev/null || fail "$tool is not installed"
done
[ -c /dev/net/tun ] || fail "/dev/net/tun is missing: the kernel has no TUN/TAP driver"
for name in $host $peer; do
    [ ! -e "/run/netns/$name" ] || fail "the network namespace $name exists: another recording runs, or 'ip netns del $name'"
done

new=$out.new
trap 'rm -f "$new"; ip netns del $host 2>/dev/null; ip netns del $peer 2>/dev/null' EXIT
trap 'exit 1' INT TERM

ip netns add $host
ip netns add $peer
# A pair of TAP devices for each way a frame can be tagged; record.py is the cable between the two of a pair.
for tag in plain vlan qinq; do
    ip -n $host tuntap add dev $tag mode tap
    ip -n $host link set $tag address $host_mac
    ip -n $peer tuntap add dev $tag mode tap
    ip -n $peer link set $tag address $peer_mac
done

# The peer is a bridge that speaks spanning tree, which sends 802.2 LLC frames.
ip -n $peer link add br0 type bridge stp_state 1 hello_time 100 forward_delay 200 || fail "the kernel has no bridge"
ip -n $peer link set br0 address $peer_mac
ip -n $peer link set plain master br0

net=0
for tag in plain vlan qinq; do
    port=$tag
    [ $tag != plain ] || port=br0
    ip -n $host address add 10.99.$net.1/24 broadcast 10.99.$net.255 dev $tag
    ip -n $host address add fd99:$net::1/64 dev $tag
    ip -n $peer address add 10.99.$net.2/24 broadcast 10.99.$net.255 dev $port
    ip -n $peer address add fd99:$net::2/64 dev $port
    ip -n $host link set $tag up
    ip -n $peer link set $tag up
    net=$((net + 1))
done
ip -n $peer link set br0 up

python3 "$here/record.py" $host $peer "$new"
mv "$new" "$out"
