"""A locustfile before another one: its master waits longer for the heartbeats of its workers.

Locust gives up a worker that is not heard for three seconds, and then a test without workers. On a
machine that is busy with others a worker needs longer than that to begin.
"""

import locust.runners

locust.runners.HEARTBEAT_LIVENESS = 60
