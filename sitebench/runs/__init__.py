"""The run file: one SQLite file with manifest, points, timelines and histograms."""
