from __future__ import annotations

from sitebench.suite import Demo, Operation, Suite

SUITE = Suite(
    name="web",
    title="Web server",
    help="Measure, serve and fill web servers: static files, and the programs behind them.",
    commands="web_bench.cli:COMMANDS",
    operations={
        "webbench1-static": Operation("WebBench1StaticUser"),
        "webbench1-light": Operation("WebBench1LightUser"),
        "webbench1-heavy": Operation("WebBench1HeavyUser"),
        "webbench3-like": Operation("WebBench3LikeUser"),
        "spice-static": Operation("SpiceStaticUser"),
        "spice-inprocess": Operation("SpiceInprocessUser"),
        "spice-page": Operation("SpicePageUser"),
        "spice-template": Operation("SpiceTemplateUser"),
        "spice-cgi": Operation("SpiceCgiUser"),
        "spice-fastcgi": Operation("SpiceFastcgiUser"),
        "ecommerce-inprocess": Operation("EcommerceInprocessUser"),
        "ecommerce-cgi": Operation("EcommerceCgiUser"),
        "silicon-surf": Operation("SiliconSurfUser"),
        "webstone2-standard": Operation("WebStone2StandardUser"),
        "webstone2-inprocess": Operation("WebStone2InprocessUser"),
        "webstone2-cgi": Operation("WebStone2CgiUser"),
        "large-filemix": Operation("LargeFilemixUser"),
        "cgi-html": Operation("CgiHtmlUser"),
    },
    takes_files="http",
    own_verbs=("file", "program"),
    locustfile="web_bench.locustfile",
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
