"""The highest rate of this machine, which the tester reaches against a bare socket loop."""
