"""The directory suite: sequences, targets and the paper's tables of an Internet Locator Server."""
