"""A long run of the embedded directory: whether memory, CPU time and rates stay the same.

`mix` defines the work of the lanes, `run` executes it, `account` compares the lanes' counts with
the directory's counts, and `trend` compares the end with the beginning.
"""
