"""The papers' web workloads in Locust, and any other from a scenario file.

locust -f locustfiles/web.py                                 web UI, embedded server
locust -f locustfiles/web.py --headless -u 64 -t 20s         the first workload
locust -f locustfiles/web.py --headless -u 64 -t 20s SiliconSurfUser
locust -f locustfiles/web.py --target http://127.0.0.1:8080 --scenario own.toml
"""

from web_bench.locustfile import *  # noqa: F403
