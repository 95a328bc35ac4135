"""The ceiling of this machine: what the tester reaches against a bare socket loop."""
