"""The 1997 paper's tables of directories."""
