"""The built-in workloads compared with the papers' tables and statements."""

import json
from importlib.resources import files as files_of
from itertools import pairwise
from pathlib import Path

import pytest

from tests.web_bench.made import byte_shares, mean_bytes
from web_bench.workload import RequestClass, Workload, built_in

FOUND = built_in()
WEBBENCH1 = "256:7 512:7 1K:10 2K:26 4K:17 8K:13 16K:12 32K:6 64K:1 128K:1"
SILICON_SURF = "2K,3K:40 1K,5K:25 4K,6K:15 7K:5 8K,9K,10K,11K:4 12K,14K,15K,17K,18K:4 33K:6 200K:1"
WEBSTONE2 = "500:350 5125:500 51250:140 512500:9 5248000:1"
LARGE_FILEMIX = (
    "256:8 512:9 1K:8 2K:17 3K:12 4K:7 6K:10 8K:5 16K:10 32K:7 64K:4 256K:1 512K:1 1024K:1"
)
CGI_HTML = "256:2 512:2 1K:2 2K:3 3K:3 4K:2 6K:3 8K:1 16K:3 32K:2 64K:1 256K:1"
SPICE_CLIENTS = (1, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60)
STATIC_CLIENTS = (12, 24, 48, 96, 120, 216, 240)
CGI_CLIENTS = (2, 4, 8, 14, 28, 56, 112)
WEBCAT_CLIENTS = (48, 96, 192, 264)
WEBSTONE_CLIENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300, 400, 500, 600)


FILE_SETS = json.loads(Path(__file__).with_name("file_sets.json").read_text())
"""The generator's input for each workload before they were scenario files."""


def rows(text: str, times: int = 1) -> list[tuple[tuple[int, ...], int]]:
    """Read the notation above: sizes, ":", weight."""
    return [
        (
            tuple(
                int(size.removesuffix("K")) * (1024 if size.endswith("K") else 1)
                for size in sizes.split(",")
            ),
            int(weight) * times,
        )
        for sizes, _, weight in (row.partition(":") for row in text.split())
    ]


def static(workload: Workload) -> list[tuple[tuple[int, ...], int]]:
    return [(each.files.sizes, each.weight) for each in workload.classes if each.files]


def programs(workload: Workload) -> list[tuple[str, int | None, int, bool]]:
    return [
        (each.dynamic, each.size or each.size_about, each.weight, each.tls)
        for each in workload.classes
        if each.dynamic
    ]


def test_all_built_in_workloads_exist() -> None:
    files = files_of("web_bench").joinpath("workloads").iterdir()
    assert sorted(FOUND) == sorted(file.name.removesuffix(".toml") for file in files)
    assert sorted(FOUND) == sorted(FILE_SETS)


@pytest.mark.parametrize(
    ("name", "table", "times", "dynamic", "clients"),
    [
        ("webbench1-static", WEBBENCH1, 1, [], STATIC_CLIENTS),
        ("webbench1-light", WEBBENCH1, 9, [("cgi-env", 670, 100, False)], CGI_CLIENTS),
        ("webbench1-heavy", WEBBENCH1, 1, [("cgi-env", 670, 900, False)], CGI_CLIENTS),
        ("silicon-surf", SILICON_SURF, 1, [], WEBCAT_CLIENTS),
        ("webstone2-standard", WEBSTONE2, 1, [], WEBSTONE_CLIENTS),
        ("large-filemix", LARGE_FILEMIX, 1, [], WEBCAT_CLIENTS),
        ("cgi-html", CGI_HTML, 1, [("cgi", 10_240, 75, False)], WEBCAT_CLIENTS),
        ("spice-inprocess", "", 1, [("inprocess", 6250, 1, False)], SPICE_CLIENTS),
        ("spice-page", "", 1, [("page", 6250, 1, False)], SPICE_CLIENTS),
        ("spice-template", "", 1, [("template", 6250, 1, False)], SPICE_CLIENTS),
        ("spice-cgi", "", 1, [("cgi", 6250, 1, False)], SPICE_CLIENTS),
        ("spice-fastcgi", "", 1, [("fastcgi", 6250, 1, False)], SPICE_CLIENTS),
    ],
)
def test_weights_of_workloads_are_those_of_the_papers(
    name: str,
    table: str,
    times: int,
    dynamic: list[tuple[str, int, int, bool]],
    clients: tuple[int, ...],
) -> None:
    workload = FOUND[name]
    assert static(workload) == rows(table, times)
    assert programs(workload) == dynamic
    assert (workload.clients, workload.http) == (clients, "1.0")


@pytest.mark.parametrize("kind", ["inprocess", "cgi"])
def test_webstones_programs_produce_the_sizes_of_its_files(kind: str) -> None:
    workload = FOUND[f"webstone2-{kind}"]
    assert programs(workload) == [(kind, size, w, False) for (size,), w in rows(WEBSTONE2)]
    assert (workload.file_set, workload.clients) == (None, WEBSTONE_CLIENTS)


@pytest.mark.parametrize("kind", ["inprocess", "cgi"])
def test_e_commerce_workload_has_the_shares_of_the_paper(kind: str) -> None:
    workload = FOUND[f"ecommerce-{kind}"]
    shares = dict.fromkeys([("", False), (kind, False), ("", True), (kind, True)], 0)
    for each in workload.classes:
        shares[each.dynamic, each.tls] += each.weight
    assert list(shares.values()) == [7_500, 1_700, 600, 200]
    assert {each.size for each in workload.classes if each.dynamic} == {6250}
    like = {each.files: each.weight for each in FOUND["webbench3-like"].classes}
    for tls, of in ((False, 75), (True, 6)):
        found = {
            each.files: each.weight
            for each in workload.classes
            if each.tls is tls and not each.dynamic
        }
        assert found == {files: weight * of for files, weight in like.items()}
    assert (workload.http, workload.clients) == ("1.0", SPICE_CLIENTS)


def test_webbench3_like_meets_all_statements_of_the_paper_on_files() -> None:
    workload = FOUND["webbench3-like"]
    files = workload.file_set
    assert files is not None
    assert (files.count, files.bytes) == (6_000, 60_000_000)
    spreads = [each.spread for each in files.classes if each.spread is not None]
    assert len(spreads) == len(files.classes)
    # From 223 bytes to 529 KB without a gap.
    assert (spreads[0][0], spreads[-1][1]) == (223, 529_000)
    assert all(below[1] == above[0] for below, above in pairwise(spreads))
    assert mean_bytes(workload) == pytest.approx(6_250, abs=0.5)
    # There are fewer larger files, and they are requested less.
    assert all(a.weight > b.weight for a, b in pairwise(workload.classes))
    assert all(files.only(a).count > files.only(b).count for a, b in pairwise(files.classes))
    assert [(each.files, each.weight) for each in FOUND["spice-static"].classes] == [
        (each.files, each.weight) for each in workload.classes
    ]


def test_file_sets_with_the_same_name_are_equal() -> None:
    """Files seeded for one workload serve others; contents depend on the order of classes."""
    specs: dict[str, set[str]] = {}
    for each in FOUND.values():
        if each.file_set is not None:
            specs.setdefault(each.file_set.name, set()).add(json.dumps(each.file_set.spec()))
    assert all(len(each) == 1 for each in specs.values())
    assert len(specs) == 6


@pytest.mark.parametrize("name", FOUND)
def test_file_sets_of_workloads_are_unchanged(name: str) -> None:
    """Their digest names the folder in the cache. A test of the engine covers the requests."""
    files = FOUND[name].file_set
    assert (None if files is None else json.dumps(files.spec(), sort_keys=True)) == (
        FILE_SETS[name] and json.dumps(FILE_SETS[name], sort_keys=True)
    )
    assert FOUND[name].counted_rows == [(name, "sequence")]
    assert FOUND[name].keeps_alive is False


@pytest.mark.parametrize(
    ("name", "mean"),
    [
        ("webbench1-static", 8_348.16),
        ("webbench1-light", 7_580),
        ("webbench1-heavy", 1_438),
        ("silicon-surf", 8_006),
        ("webstone2-standard", 19_773),
        ("large-filemix", 26.445 * 1024),
        ("cgi-html", 12.345 * 1024),
        ("ecommerce-cgi", 6_250),
    ],
)
def test_mean_bytes_equal_those_computed_from_the_tables(name: str, mean: float) -> None:
    assert mean_bytes(FOUND[name]) == pytest.approx(mean, abs=0.5)


def share(name: str, below: int) -> float:
    """Return the percentage of a workload's requests for files below a size."""
    workload = FOUND[name]

    def part(each: RequestClass) -> float:
        assert each.files is not None
        sizes = each.files.sizes
        return each.weight * sum(size < below for size in sizes) / len(sizes)

    return 100 * sum(map(part, workload.classes)) / sum(each.weight for each in workload.classes)


def test_statements_on_webbenchs_files_hold_except_on_the_most_frequent_file() -> None:
    workload = FOUND["webbench1-static"]
    assert mean_bytes(workload) == pytest.approx(8.1525 * 1024)
    assert share("webbench1-static", 32 * 1024) == 92
    assert workload.file_set is not None
    sizes = [each.sizes[0] for each in workload.file_set.classes]
    assert (min(sizes), max(sizes)) == (256, 128 * 1024)
    assert (workload.file_set.count, workload.file_set.bytes) == (100, 815.25 * 1024)
    # "The size of the most frequently retrieved file is 4 KB": Appendix A has 26 of 2K, 17 of 4K.
    most = max(workload.classes, key=lambda each: each.weight)
    assert most.name == "2k"
    percent = [round(100 * each, 1) for each in byte_shares(workload)]
    assert percent == [0.2, 0.4, 1.2, 6.4, 8.3, 12.8, 23.6, 23.6, 7.9, 15.7]


def test_statements_of_the_other_paper_fit_silicon_surf_and_not_webstone2() -> None:
    # "93% of accessed files are smaller than 30 KB"; "average accessed file is roughly 7 KB".
    assert share("silicon-surf", 30 * 1024) == pytest.approx(93)
    assert mean_bytes(FOUND["silicon-surf"]) == pytest.approx(7.818 * 1024, abs=0.5)
    assert share("webstone2-standard", 30 * 1024) == pytest.approx(85)
    files = FOUND["silicon-surf"].file_set
    assert files is not None
    assert (files.count, files.bytes) == (18, 375 * 1024)


def test_three_classes_of_large_filemix_have_two_thirds_of_its_bytes() -> None:
    shares = byte_shares(FOUND["large-filemix"])
    assert [round(100 * each, 1) for each in shares[-3:]] == [9.7, 19.4, 38.7]
    files = FOUND["large-filemix"].file_set
    assert files is not None
    assert files.bytes == pytest.approx(1.93e6, rel=0.03)
    assert files.bytes == 1_928.75 * 1024


def test_mean_of_cgi_html_files_depends_on_the_reading_of_the_first_row() -> None:
    workload = FOUND["cgi-html"]
    parts = [
        (each.weight, each.files.sizes[0]) for each in workload.classes if each.files is not None
    ]
    assert sum(weight for weight, _ in parts) == 25
    mean = sum(weight * size for weight, size in parts) / 25 / 1024
    assert mean == pytest.approx(19.38, abs=0.005)
    # With 256K as printed; C.2's reading is 256 bytes.
    literal = mean + 2 * (256 - 0.25) / 25
    assert literal == pytest.approx(39.84, abs=0.005)
    assert (25 * literal + 75 * 10) / 100 == pytest.approx(17.46, abs=0.005)


def test_facts_from_other_sources_are_not_attributed_to_the_papers() -> None:
    """The note lists inferred facts and facts from other sources."""
    inferred = ("webbench3-like", "spice-", "ecommerce-", "webstone2-")
    for name, workload in FOUND.items():
        assert workload.facts["paper"]
        if name.startswith(inferred):
            note = workload.facts["note"]
            assert any(word in note for word in ("inferred", "not print", "prints no"))
