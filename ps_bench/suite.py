from __future__ import annotations

from sitebench.suite import Demo, Operation, Suite

SUITE = Suite(
    name="ps",
    long_name="site",
    title="Personalized site",
    help="Measure, serve and fill web sites with personal pages.",
    commands="ps_bench.cli:COMMANDS",
    operations={
        "scenario": Operation("ScenarioUser", "91 % pages, 5 % new users, 4 % updates with a page"),
        "page": Operation("PageUser", "personalized pages, without images"),
        "create": Operation("CreateUser", "new users"),
        "update": Operation("UpdateUser", "updates of two properties"),
        "image": Operation("ImageUser", "an image, which is a static file"),
    },
    takes_files="http",
    locustfile="ps_bench.locustfile",
    demo=Demo(
        command=("sweep", "--entries", "1k,10k,100k"), points=3, next="ps serve --entries 10k"
    ),
    points="ps_bench.points:POINTS",
    paper_sweep="ps_bench.paper.printed:SWEEP_1997",
    report="ps_bench.paper.report:REPORT",
    plan="ps_bench.paper.plan:PLAN",
    exports={"PersonalizedSite": "ps_bench.targets.personalized_site"},
    target_options=frozenset(("target", "target_threads", "durability", "row_cache", "database")),
    metrics={"pages_per_s": "web_pages_per_s"},
)
