"""Where rules draw their lines, and why there.

Two kinds of shares, two pairs of lines. *Used*: a share of what there is (of cores, of a link).
*Stalled*: a share of time in which work stood still for want of something.
"""

USED_UP = 0.90
"""A resource of which this share is used is used up. The paper calls its servers' CPUs "fully
utilized" (Tables 10 and 11) at 92.3 % (Table 7, 1,000 users) to 100 %; and above it what is left
goes to the kernel's wake-ups between two batches."""

BUSY = 0.70
"""From here a resource shows in response times: in the simplest queue (M/M/1) an operation stays
1 / (1 - 0.7) = 3.3 times as long as it is served. The paper's Tables 15 and 16 say No of CPUs at
77 to 97 %, because they fell as the database grew; one point alone cannot know that."""

STALLED_MOST = 0.50
"""Work that stands still for want of one thing more than half of the time would run at least twice
as fast without that (Amdahl): no other cause can be larger."""

STALLED_SOME = 0.10
"""Below it, taking the cause away makes at most 1 / (1 - 0.1) = 11 % more (Amdahl)."""

LOSS = 0.01
"""With 1 % of its segments lost, TCP keeps 1.22 / sqrt(0.01) = 12 segments under way per round trip
(Mathis and others, 1997, equation 3), whatever the link could carry."""

MISSED = 0.98
"""An open schedule that reaches less than this share of its rate did not keep it."""

AT_THE_EDGES = 2
"""Operations that may fall out of a window, wherever it is cut: few at a low rate are many."""
