"""The paper's directory workloads in Locust: one user class per sequence.

locust -f locustfiles/ils.py                                 web UI, embedded directory
locust -f locustfiles/ils.py --headless -u 64 -t 20s LookupUser
locust -f locustfiles/ils.py --target ldap://127.0.0.1:389 --names 'uid=user.{i}' LookupUser
"""

from ils_bench.locustfile import *  # noqa: F403
