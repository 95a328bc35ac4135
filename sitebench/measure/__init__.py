"""Measurement of a point or of a sweep of points, and judgement by objectives."""
