"""What only developers run: the speed ratios of `make bench`, the soak of `make soak`."""
