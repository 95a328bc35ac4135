"""Commands for developers, outside the wheel: the speed ratios and the soak.

`python -m benches` (`make bench`) measures every ratio that the documentation states;
`python -m benches.soak` (`make soak`) loads the embedded directory for a long time.
"""
