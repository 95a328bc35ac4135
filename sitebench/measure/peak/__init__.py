"""The highest rate that still meets the objectives: search, curve and tables."""
