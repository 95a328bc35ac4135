"""A long run of the embedded directory: whether it and its tester stay as they begin.

`mix` is what lanes do, `run` has them do it, `account` compares what they counted with what the
directory did, and `trend` compares the end with the beginning.
"""
