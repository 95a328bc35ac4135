"""Counts and durations of a load, and their statistics."""
