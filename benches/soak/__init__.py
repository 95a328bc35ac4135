"""A long run of the embedded directory: whether directory and tester stay as they began.

`mix` defines the work of the lanes, `run` executes it, `account` compares the lanes' counts with
the directory's counts, and `trend` compares the end with the beginning.
"""
