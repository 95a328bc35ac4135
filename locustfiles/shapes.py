"""Load shapes, for any locustfile: name this one with it.

locust -f locustfiles/ils.py,locustfiles/shapes.py                web UI: they are in its picker
locust -f locustfiles/ils.py,locustfiles/shapes.py --headless -u 64 -r 64 --shape Spike LookupUser
"""

from sitebench.locust.shapes.ready import *  # noqa: F403
