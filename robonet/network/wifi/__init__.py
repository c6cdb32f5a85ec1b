"""`wifi`: 802.11 ad hoc radios with real contention, IPv4/UDP, and MANET routing on top."""
