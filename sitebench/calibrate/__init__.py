"""The highest rate that the tester reaches on this machine, against a bare socket loop."""
