"""Measuring points: one, a sweep of them, judged by objectives."""
