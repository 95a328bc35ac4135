"""Resource use of target, load generator and machines, sampled once a second.

A `Monitor` takes a `Sample` of cumulative counters; `use_between` turns two of them into the `Use`
of a window. docs/monitor.md has the source of each figure.
"""
