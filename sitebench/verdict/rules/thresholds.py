"""Thresholds of the rules, with the reasons for their values.

*Used* is the share of a resource in use (cores, a link); *stalled* is the share of time in which
work waited for a resource.
"""

USED_UP = 0.90
"""The paper calls its servers' CPUs "fully utilized" (Tables 10 and 11) from 92.3 % (Table 7, 1,000
users) to 100 %; the rest of the time goes to wake-ups between two batches."""

BEYOND = 1.10
"""A target that used a larger share has more cores than assumed. The clocks of the window and of
the CPU differ by less than this, so they do not explain the share."""

BUSY = 0.70
"""From this share on, a resource prolongs response times: in the simplest queue (M/M/1) an
operation takes 1 / (1 - 0.7) = 3.3 times its service time. The paper's Tables 15 and 16 grade CPUs
at 77 to 97 % as No because their use fell as the database grew, which one point does not show."""

STALLED_MOST = 0.50
"""Work that waits for one resource more than half of the time would be at least twice as fast
without the waits (Amdahl): no other cause can be larger."""

STALLED_SOME = 0.10
"""Below this share, removing the cause gains at most 1 / (1 - 0.1) = 11 % (Amdahl)."""

FULL = 0.95
"""With this share of a pool's connections in use on average, users nearly always waited for one:
between two requests a connection is free for a moment."""

LOSS = 0.01
"""With 1 % of its segments lost, TCP has at most 1.22 / sqrt(0.01) = 12 segments in flight per
round trip (Mathis and others, 1997, equation 3), whatever the capacity of the link."""
