"""Addresses on the air: nodes are numbers everywhere else."""

_NETWORK = 10 << 24
_MOST_NODES = (1 << 24) - 2


def address_of(node: int) -> bytes:
    """The IPv4 address of a node: 10.0.0.1 is node 0's."""
    if not 0 <= node < _MOST_NODES:
        raise ValueError(f"node {node} has no address in 10.0.0.0/8, which is for nodes 0 to {_MOST_NODES - 1}")
    return (_NETWORK + node + 1).to_bytes(4, "big")


def node_at(address: bytes) -> int:
    """The node with an IPv4 address."""
    node = int.from_bytes(address, "big") - _NETWORK - 1
    if len(address) != 4 or not 0 <= node < _MOST_NODES:
        raise ValueError(f"{'.'.join(map(str, address))} is no address of a node, which are 10.0.0.1 and up")
    return node


def hardware_address_of(node: int) -> bytes:
    """The MAC address of a node's radio, a locally administered one: 02:00:00:00:00:01 is node 0's."""
    if not 0 <= node < _MOST_NODES:
        raise ValueError(f"node {node} has no hardware address, which are for nodes 0 to {_MOST_NODES - 1}")
    return b"\x02\x00\x00" + (node + 1).to_bytes(3, "big")
