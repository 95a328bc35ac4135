"""Counts and durations of a load, and the statistics computed from them."""
