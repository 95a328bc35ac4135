"""Thresholds of the rules, with the reasons for their values.

*Used* is the share of a resource in use (of cores, of a link), *stalled* the share of time in which
work waited for a resource.
"""

USED_UP = 0.90
"""The paper calls its servers' CPUs "fully utilized" (Tables 10 and 11) at 92.3 % (Table 7, 1,000
users) to 100 %; the rest goes to the kernel's wake-ups between two batches."""

BEYOND = 1.10
"""A target that used more of its CPU has more cores than assumed: the clocks of a window and of its
CPU differ by less."""

BUSY = 0.70
"""From this share on a resource shows in response times: in the simplest queue (M/M/1) an operation
stays 1 / (1 - 0.7) = 3.3 times as long as it is served. The paper's Tables 15 and 16 grade CPUs at
77 to 97 % as No, because they fell as the database grew, which one point does not show."""

STALLED_MOST = 0.50
"""Work that waits for one resource more than half of the time would run at least twice as fast
without waiting (Amdahl): no other cause can be larger."""

STALLED_SOME = 0.10
"""Below it, removing the cause gains at most 1 / (1 - 0.1) = 11 % (Amdahl)."""

FULL = 0.95
"""With this share of a pool's places in use on average, by rate times service time, users nearly
always waited for one: between two requests a place is free while one is sent."""

LOSS = 0.01
"""With 1 % of its segments lost, TCP keeps 1.22 / sqrt(0.01) = 12 segments under way per round trip
(Mathis and others, 1997, equation 3), whatever the link could carry."""

MIN_SCHEDULE_SHARE = 0.98
"""The least share of its rate at which an open schedule is kept."""

WINDOW_EDGE_OPERATIONS = 2
"""Operations that may fall outside the window at its edges: a large share at a low rate."""

CHANCE_DEVIATIONS = 3
"""A random number is as many standard deviations below its mean once in 700 times."""
