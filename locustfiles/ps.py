"""The paper's personalized site in Locust: its scenario, and each operation alone.

locust -f locustfiles/ps.py                                  web UI, embedded site
locust -f locustfiles/ps.py --headless -u 64 -t 20s ScenarioUser
locust -f locustfiles/ps.py --target http://127.0.0.1:5000 --scenario site.toml FileUser
"""

from ps_bench.locustfile import *  # noqa: F403
