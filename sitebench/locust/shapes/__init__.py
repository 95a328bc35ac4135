"""Load shapes: users over time."""
