"""The thresholds of the rules, each with the reason for its value.

Two kinds of shares have two thresholds each. *Used*: the share of a resource in use (of cores, of
a link). *Stalled*: the share of time in which work waited for a resource.
"""

USED_UP = 0.90
"""A resource is used up from this share on. The paper calls its servers' CPUs "fully
utilized" (Tables 10 and 11) at 92.3 % (Table 7, 1,000 users) to 100 %; and above it what is left
goes to the kernel's wake-ups between two batches."""

BEYOND = 1.10
"""A target that used more of its CPU than this has more than it was taken to have: the clock of a
window and that of its CPU differ by less."""

BUSY = 0.70
"""From this share on a resource shows in response times: in the simplest queue (M/M/1) an operation
stays 1 / (1 - 0.7) = 3.3 times as long as it is served. The paper's Tables 15 and 16 say No of CPUs
at 77 to 97 %, because they fell as the database grew; one point alone cannot know that."""

STALLED_MOST = 0.50
"""Work that waits for one resource more than half of the time would run at least twice as fast
without waiting (Amdahl): no other cause can be larger."""

STALLED_SOME = 0.10
"""Below it, removing the cause gains at most 1 / (1 - 0.1) = 11 % (Amdahl)."""

FULL = 0.95
"""With so many places of a pool in use on average, by rate times service time, users waited for one
nearly always: between two requests a place is free for the time that it takes to send one."""

LOSS = 0.01
"""With 1 % of its segments lost, TCP keeps 1.22 / sqrt(0.01) = 12 segments under way per round trip
(Mathis and others, 1997, equation 3), whatever the link could carry."""

MIN_SCHEDULE_SHARE = 0.98
"""An open schedule that reaches less than this share of its rate did not keep it."""

WINDOW_EDGE_OPERATIONS = 2
"""Operations that may fall outside the window at its two edges: a large share at a low rate."""

CHANCE_DEVIATIONS = 3
"""So many standard deviations below its mean a random number lies once in 700 times."""
