"""The directory half: sequences, targets, sweeps and tables of an Internet Locator Server."""
