"""Sites that are measured: ours, in a process of its own, or anybody's, only addressed."""
