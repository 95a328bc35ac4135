"""Measuring from Python: run() and its result."""
