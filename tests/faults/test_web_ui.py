"""A web UI that may open no more files: a test too large for it fails, and the next one runs."""

from tests.faults.served import LANES, LOCALES, PEOPLE
from tests.support.aftermath import Ground
from tests.support.programs import required_program
from tests.support.screen import Screen
from tests.support.web_page import web_ui

NO_FILES = "this process may open no more files; raise `ulimit -n`, or use fewer users"


def test_a_web_ui_out_of_descriptors_says_so_and_runs_the_next_test(ground: Ground) -> None:
    few = (str(required_program("prlimit")), "--nofile=150:150")
    who = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES), "--threads", "1")
    output: list[str] = []
    there = ground.environment
    ui = web_ui(ground.folder, "ils", *who, output=output, before=few, forked=False, **there)
    with ui as (_, root):
        screen = Screen(root)
        screen.start("LookupUser", users=300)
        screen.wait(lambda stats: stats["state"] == "stopped")
        assert NO_FILES in screen.get("/sitebench/live.json")
        screen.start("LookupUser", users=LANES)
        screen.until_done("lookup", 100)
        screen.stop()
    (words,) = output
    assert NO_FILES in words
    assert "Traceback" not in words
