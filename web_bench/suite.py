"""What the suite for web servers is."""

from __future__ import annotations

from sitebench.suite import Demo, Suite

SUITE = Suite(
    name="web",
    title="Web server",
    help="Measure, serve and fill web servers: static files, and the programs behind them.",
    commands="web_bench.cli:COMMANDS",
    operations={
        "webbench1-static": "WebBench1StaticUser",
        "webbench1-light": "WebBench1LightUser",
        "webbench1-heavy": "WebBench1HeavyUser",
        "webbench3-like": "WebBench3LikeUser",
        "spice-static": "SpiceStaticUser",
        "spice-inprocess": "SpiceInprocessUser",
        "spice-page": "SpicePageUser",
        "spice-template": "SpiceTemplateUser",
        "spice-cgi": "SpiceCgiUser",
        "spice-fastcgi": "SpiceFastcgiUser",
        "ecommerce-inprocess": "EcommerceInprocessUser",
        "ecommerce-cgi": "EcommerceCgiUser",
        "silicon-surf": "SiliconSurfUser",
        "webstone2-standard": "WebStone2StandardUser",
        "webstone2-inprocess": "WebStone2InprocessUser",
        "webstone2-cgi": "WebStone2CgiUser",
        "large-filemix": "LargeFilemixUser",
        "cgi-html": "CgiHtmlUser",
    },
    takes_files="http",
    own_verbs=("file", "program"),
    locustfile="web_bench.locustfile",
    # Files, a program within the web server, and a process for each request.
    demo=Demo(
        command=("sweep", "spice-static", "spice-inprocess", "spice-cgi", "--clients", "1,4,16"),
        points=9,
        next="web spice --clients 1,4,16",
    ),
    points="web_bench.points:POINTS",
    report="web_bench.paper.report:REPORT",
    plan="web_bench.paper.plan:PLAN",
    exports={"WebServer": "web_bench.targets.web_server"},
    target_options=frozenset(
        ("target", "target_threads", "tls_target", "programs", "docroot", "directives")
    ),
)
