"""The machine and the operating system: processes, files, locks, signals, cores, network."""
