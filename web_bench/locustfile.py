"""The papers' web workloads in Locust, and any other from a TOML file.

A locustfile with them is one line: `from web_bench.locustfile import *`.
"""

from __future__ import annotations

from web_bench.users import WebUser


class WebBench1StaticUser(WebUser):
    workload = "webbench1-static"


class WebBench1LightUser(WebUser):
    workload = "webbench1-light"


class WebBench1HeavyUser(WebUser):
    workload = "webbench1-heavy"


class WebBench3LikeUser(WebUser):
    workload = "webbench3-like"


class SpiceStaticUser(WebUser):
    workload = "spice-static"


class SpiceInprocessUser(WebUser):
    workload = "spice-inprocess"


class SpicePageUser(WebUser):
    workload = "spice-page"


class SpiceTemplateUser(WebUser):
    workload = "spice-template"


class SpiceCgiUser(WebUser):
    workload = "spice-cgi"


class SpiceFastcgiUser(WebUser):
    workload = "spice-fastcgi"


class EcommerceInprocessUser(WebUser):
    workload = "ecommerce-inprocess"


class EcommerceCgiUser(WebUser):
    workload = "ecommerce-cgi"


class SiliconSurfUser(WebUser):
    workload = "silicon-surf"


class WebStone2StandardUser(WebUser):
    workload = "webstone2-standard"


class WebStone2InprocessUser(WebUser):
    workload = "webstone2-inprocess"


class WebStone2CgiUser(WebUser):
    workload = "webstone2-cgi"


class LargeFilemixUser(WebUser):
    workload = "large-filemix"


class CgiHtmlUser(WebUser):
    workload = "cgi-html"


class FileUser(WebUser):
    """Does what the file of --scenario says, or asks for --path."""
