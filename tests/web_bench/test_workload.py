"""User-defined workloads: requests in a scenario file, and errors."""

from pathlib import Path

import pytest

from sitebench.errors import BadFile, BadInput
from tests.web_bench.made import byte_counts, byte_shares, mean_bytes, request_shares
from web_bench.workload import FileClass, find, of_path, parse

OWN = """\
title = "Shop"
load.clients = [1, 10]

operation = [
  { weight = 8, file = "page" },
  { name = "page-tls", weight = 4, file = "page", on = "secure" },
  { weight = 4, file = "photo" },
  { name = "cart", weight = 4, program = "cgi-env", size_about = 700 },
]

[connection]
main = { per = "step" }
secure = { per = "step", tls = true }

[files.shop]
page = { sizes = [1000, 3000] }
photo = { spread = [100, 10000], count = 3 }
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.toml"
    file.write_text(OWN)
    return file


def test_request_class_may_use_the_files_of_another_class() -> None:
    workload = parse(OWN, "shop")
    page, secure, photo, cart = workload.classes
    assert (workload.name, workload.title, workload.clients) == ("shop", "Shop", (1, 10))
    assert page.files == secure.files == FileClass("page", (1000, 3000))
    assert (page.tls, secure.tls, workload.uses_tls) == (False, True, True)
    assert (cart.dynamic, cart.size, cart.size_about) == ("cgi-env", None, 700)
    assert workload.kinds == {"cgi-env"}
    assert (workload.http, workload.keeps_alive) == ("1.1", False)
    assert [each.row for each in workload.classes] == [
        ("shop", name) for name in ("page", "page-tls", "photo", "cart")
    ]
    assert workload.file_set is not None
    assert photo.files is not None
    assert (workload.file_set.count, workload.file_set.only(photo.files).count) == (5, 3)
    # 100, 1,000 and 10,000: each ten times the one before.
    assert workload.file_set.only(photo.files).bytes == 11_100
    assert workload.file_set.bytes == 4_000 + 11_100


def test_weights_give_shares_of_requests_and_sizes_give_shares_of_bytes() -> None:
    workload = parse(OWN, "shop")
    assert request_shares(workload) == [0.4, 0.2, 0.2, 0.2]
    assert mean_bytes(workload) == pytest.approx((3 * 2_000 + 3_700 + 700) / 5)
    assert byte_shares(workload) == pytest.approx(
        [each / 10_400 for each in (4000, 2000, 3700, 700)]
    )


def test_mean_needs_the_size_of_every_class() -> None:
    known = '[[operation]]\nname = "a"\nweight = 60\nget = "/a"\nexpect.length = 10\n'
    assert mean_bytes(parse(known, "own")) == 10
    for more in (
        'get = "/b?d=e"',
        'head = "/b"\nexpect.length = 10',
        'get = "/b"\nheaders.Range = "bytes=0-9"\nexpect.status = 206\nexpect.length = 10',
    ):
        workload = parse(f'{known}[[operation]]\nname = "b"\nweight = 40\n{more}\n', "own")
        assert byte_counts(workload) is None
        assert request_shares(workload) == [0.6, 0.4]
        assert (workload.title, workload.file_set, workload.http) == ("own", None, "1.1")
        assert workload.counted_rows == [("own", "sequence")]


def test_sizes_repeat_in_rounds_and_the_last_round_may_be_incomplete() -> None:
    workload = parse(
        '[files.f]\na = { sizes = [10, 20, 30], count = 5 }\n[[operation]]\nfile = "a"\n', "own"
    )
    assert workload.file_set is not None
    assert workload.file_set.bytes == 10 + 20 + 30 + 10 + 20
    assert mean_bytes(workload) == 18


def test_specification_of_a_file_set_contains_nothing_about_requests() -> None:
    files = parse(OWN, "shop").file_set
    assert files is not None
    assert files.spec(seed=7) == {
        "name": "shop",
        "seed": 7,
        "files_per_class": 1,
        "classes": [
            {"name": "page", "sizes": [1000, 3000]},
            {"name": "photo", "spread": [100, 10000], "files": 3},
        ],
    }


def test_operations_with_substituted_values_have_separate_rows() -> None:
    text = (
        'data.page.values = ["/a", "/b"]\n'
        '[[operation]]\nname = "one"\nget = "{page}"\n'
        '[[operation]]\nname = "two"\nstep = [{ get = "{page}" }, { program = "cgi", size = 5 }]\n'
        '[[operation]]\nname = "three"\ncounts = "get"\n'
        'step = [{ think = "1ms" }, { get = "/c" }]\n'
    )
    workload = parse(text, "own")
    assert workload.counts is None
    one, two, three = workload.classes
    assert (one.row, one.asks) == (("one", "get"), ("{page}",))
    assert (two.row, two.asks) == (("two", "sequence"), ("{page}", "cgi"))
    assert three.row == ("three", "get")
    assert workload.kinds == {"cgi"}
    assert ("own", "main: connect") in workload.connects


def test_one_operation_of_a_file_can_be_a_workload(shop: Path) -> None:
    cart = find(f"{shop}:cart")
    assert (cart.name, cart.classes[0].row, len(cart.classes)) == ("cart", ("cart", "cart"), 1)
    assert (cart.file_set, cart.uses_tls) == (None, False)


def test_workload_is_found_by_name_or_read_from_a_file(shop: Path) -> None:
    assert find(str(shop)).name == "shop"
    assert find("webbench1-light").name == "webbench1-light"
    with pytest.raises(BadInput) as error:
        find("webbench1-lite")
    assert error.value.message == "unknown workload 'webbench1-lite'"
    assert error.value.remedy.startswith(
        "did you mean 'webbench1-light'? known: webbench1-static, "
    )
    with pytest.raises(BadFile, match=r"cannot read the scenario .*: No such file"):
        find(str(shop.with_name("absent.toml")))
    shop.write_bytes(b"\xff")
    with pytest.raises(BadFile, match="it is not UTF-8 text"):
        find(str(shop))


def test_path_can_be_a_workload() -> None:
    workload = of_path("/a?b=%22")
    assert (workload.name, workload.title) == ("path", "GET /a?b=%22")
    assert workload.classes[0].row == ("path", "path")
    assert workload.classes[0].asks == ("/a?b=%22",)
