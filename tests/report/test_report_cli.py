"""`sitebench report` as a command, and its messages for unsuitable files."""

import re
from pathlib import Path

from sitebench.runs.store import RunStore
from sitebench.verdict.warning import PointWarning, WarningKind
from tests.report import made
from tests.support.cli import in_process
from tests.support.points import judged


def test_page_is_written_beside_the_run_by_default(run: Path, tmp_path: Path) -> None:
    ran = in_process("report", run)
    assert (ran.code, ran.out) == (0, "")
    page = run.with_suffix(".html")
    assert str(page) in ran.err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    other = tmp_path / "other.html"
    assert in_process("report", run, "--out", other).code == 0
    assert other.read_bytes() == page.read_bytes()
    in_process("report", run, "--out", other, "--title", "A <directory>")
    head = other.read_text(encoding="utf-8").partition("<header>")[2].partition("</header>")[0]
    assert "<h1>A &lt;directory&gt;</h1>" in head
    assert "Load test of the embedded server" in head


def test_markdown_goes_to_standard_output_or_a_file(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    said = in_process("report", run, "--out", out, "--markdown", "-").out
    assert said.startswith("# Load test of the embedded server\n")
    in_process("report", run, "--out", out, "--markdown", tmp_path / "tables.md")
    assert (tmp_path / "tables.md").read_text(encoding="utf-8") == said


def test_figures_are_written_into_a_folder(tmp_path: Path) -> None:
    path = made.write_points(tmp_path / "one.sitebench", made.spec())
    ran = in_process("report", path, "--figures", tmp_path / "img" / "svg").check(0)
    # Drawing takes a minute.
    assert re.search(r"^writing figures to .*svg; each takes.*\nreport: ", ran.err), ran.err
    found = sorted(each.name for each in (tmp_path / "img" / "svg").iterdir())
    assert found == [
        "over-time-lookup-1k-entries.svg",
        "overview.svg",
        "printed-ils-lookup.svg",
        "spectrum-lookup.svg",
    ]


def test_objective_of_a_run_is_in_its_report(tmp_path: Path) -> None:
    path = tmp_path / "one.sitebench"
    load = ("--users", "2", "--rate", "100", "--warmup", "0s", "--measure", "500ms")
    short = ("--entries", "100", *load)
    in_process("ils", "run", *short, "--objective", "failures<50%", "--out", path)
    assert in_process("report", path).code == 0
    assert "failures&lt;50%" in path.with_suffix(".html").read_text(encoding="utf-8")


def test_advised_duration_fits_the_objective_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "few.sitebench"
    with RunStore(path) as store:
        few = WarningKind.TOO_FEW_SAMPLES
        result = made.measured(store, made.spec())
        warning = PointWarning(few, "too few for a p99", "measure longer: --measure 500s")
        store.complete(1, {}, judged(result, warnings=(warning,)))
        store.confirm(result.spec)
        store.set_manifest({"objective": "p50<1s"})
    assert in_process("report", path).code == 0
    assert "500s" not in path.with_suffix(".html").read_text(encoding="utf-8")


def test_several_runs_share_one_page_named_after_all(tmp_path: Path) -> None:
    names = ("before", "after")
    runs = [made.write(tmp_path / f"{name}.sitebench") for name in names]
    assert in_process("report", *runs).code == 0
    (page,) = tmp_path.glob("*.html")
    assert page.name == "before+after.html"
    text = page.read_text(encoding="utf-8")
    assert all(f'<p class="facts"><b>{name}</b>' in text for name in names)
    assert text.count('class="next"') == 2


def test_two_runs_of_the_same_operations_are_compared(run: Path, tmp_path: Path) -> None:
    def compared(other: Path) -> str:
        page = tmp_path / "both.html"
        assert in_process("report", run, other, "--out", page).code == 0
        section = page.read_text(encoding="utf-8").partition('<section id="compared"')[2]
        return section.partition("</section>")[0]

    text = compared(made.write(tmp_path / "after.sitebench"))
    assert "after (B) against made (A)</h2>" in text
    assert "lookup at 1k, 2 clients: too few repeats" in text or "measured apart" in text
    assert "the runs were not interleaved" in text

    text = compared(made.write_points(tmp_path / "newer.sitebench", made.spec(), method=9))
    assert "Not compared: A and B were measured by different versions of the method" in text
    retrieve = made.write_points(tmp_path / "retrieve.sitebench", made.spec("retrieve"))
    assert compared(retrieve) == "", "they have no operation in common"


def test_unfinished_run_can_be_reported(tmp_path: Path) -> None:
    path = tmp_path / "going-on.sitebench"
    with RunStore(path) as store:
        made.measured(store, made.spec())
        store.begin(made.spec(entries=5_000))
        assert in_process("report", path).code == 0
    page = path.with_suffix(".html").read_text(encoding="utf-8")
    assert "running" in page
    assert "1 point planned, but not measured." in page


def test_unreportable_file_is_refused_in_one_line_with_a_remedy(tmp_path: Path) -> None:
    other, planned = tmp_path / "other.sitebench", tmp_path / "planned.sitebench"
    other.write_text("timeStamp,elapsed,label\n1,2,home\n")
    with RunStore(planned) as store:
        store.plan([made.spec()])
    for path, said in ((other, "is not a run file of sitebench"), (planned, "no measured point")):
        assert in_process("report", path).refuse(2, said).out == ""
        assert not path.with_suffix(".html").exists()


def test_unwritable_output_is_a_one_line_error(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for option, place in (
        ("--out", tmp_path / "no" / "such" / "page.html"),
        ("--markdown", tmp_path),
        ("--figures", tmp_path / "file"),
    ):
        argv = ["report", run, option, place]
        argv += ["--out", tmp_path / "page.html"] if option != "--out" else []
        ran = in_process(*argv).check(2, f"{place}: ")
        assert len(ran.err.splitlines()) == 2, ran.err
