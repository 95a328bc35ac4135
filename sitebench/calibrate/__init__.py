"""The highest rate of the load generator on this machine, compared with a bare socket loop."""
