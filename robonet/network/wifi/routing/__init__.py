"""Routing protocols as sans-IO cores: one instance a node, handed messages and times, asking its host for effects."""
