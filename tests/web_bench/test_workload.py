"""Workloads of one's own: what a file says, and where it is wrong."""

from pathlib import Path

import pytest

from sitebench.errors import BadInput
from web_bench.workload import BadWorkload, FileClass, find, parse

OWN = """\
title = "Shop"
clients = [1, 10]
sum = 20

[files]
name = "shop"
files_per_class = 3

[[class]]
name = "page"
weight = 8
sizes = [1000, 3000]

[[class]]
name = "page-tls"
weight = 4
files_of = "page"
tls = true

[[class]]
name = "photo"
weight = 4
spread = [100, 10000]
files = 3

[[class]]
name = "cart"
weight = 4
dynamic = "cgi-env"
size_about = 700
"""
FILES = '[files]\nname = "f"\n'
CLASS = '[[class]]\nname = "a"\nweight = 100\n'
SIZED = CLASS + "sizes = [5]\n"
PATHS = CLASS + 'paths = ["/"]\n'


def test_a_class_draws_from_its_own_files_or_from_those_of_another() -> None:
    workload = parse(OWN, "some/shop.toml")
    page, secure, photo, cart = workload.classes
    assert (workload.name, workload.title, workload.clients) == ("shop", "Shop", (1, 10))
    assert page.files == secure.files == FileClass("page", (1000, 3000))
    assert (page.tls, secure.tls) == (False, True)
    assert (cart.dynamic, cart.size, cart.size_about) == ("cgi-env", None, 700)
    assert workload.files is not None
    assert photo.files is not None
    # Three files of each size; a spread has as many as it says.
    assert (workload.files.count, workload.files.count_of(photo.files)) == (9, 3)
    # 100, 1,000 and 10,000: each ten times the one before.
    assert workload.files.bytes_of(photo.files) == 11_100
    assert workload.files.bytes == 3 * 4_000 + 11_100


def test_shares_are_those_of_the_weights_and_of_the_bytes_behind_them() -> None:
    workload = parse(OWN, "shop.toml")
    assert workload.deck == (2, 1, 1, 1)
    assert workload.request_shares == (0.4, 0.2, 0.2, 0.2)
    assert workload.mean_bytes == pytest.approx((3 * 2_000 + 3_700 + 700) / 5)
    assert workload.byte_shares == pytest.approx(
        [each / 10_400 for each in (4000, 2000, 3700, 700)]
    )


def test_without_the_size_of_every_class_there_is_no_mean() -> None:
    text = '[[class]]\nname = "a"\nweight = 60\npaths = ["/a"]\nsize = 10\n'
    unknown = '[[class]]\nname = "b"\nweight = 40\npaths = ["/b", "/c?d=e"]\n'
    assert parse(text.replace("60", "100"), "own.toml").mean_bytes == 10
    workload = parse(text + unknown, "own.toml")
    assert (workload.mean_bytes, workload.byte_shares) == (None, None)
    assert workload.request_shares == (0.6, 0.4)
    assert (workload.title, workload.files, workload.http) == ("own", None, "1.1")


def test_files_that_are_not_a_multiple_of_the_sizes_begin_another_round() -> None:
    workload = parse(FILES + CLASS + "sizes = [10, 20, 30]\nfiles = 5\n", "own.toml")
    assert workload.files is not None
    assert workload.files.bytes == 10 + 20 + 30 + 10 + 20
    assert workload.mean_bytes == 18


def test_the_generator_is_given_the_files_and_nothing_of_the_requests() -> None:
    files = parse(OWN, "shop.toml").files
    assert files is not None
    assert files.spec(seed=7) == {
        "name": "shop",
        "seed": 7,
        "files_per_class": 3,
        "classes": [
            {"name": "page", "sizes": [1000, 3000]},
            {"name": "photo", "spread": [100, 10000], "files": 3},
        ],
    }


@pytest.mark.parametrize(
    ("text", "where", "what", "remedy"),
    [
        (
            CLASS + 'sizes = [1]\nmethod = "HEAD"\n',
            "line 5, column 1",
            "'method' of a class of files",
            "paths instead",
        ),
        (
            CLASS + 'paths = ["/"]\nmethod = "POST"\n',
            "line 5, column 1",
            "unknown method 'POST'",
            "GET, HEAD",
        ),
        (
            CLASS + 'paths = ["/"]\nheaders = { "A B" = "c" }\n',
            "line 5, column 13",
            "'A B' with its value is no header line",
            "leave out",
        ),
        (
            CLASS + 'paths = ["/"]\nheaders = { Authorization = "Basic c2VjcmV0" }\n',
            "line 5, column 13",
            "'Authorization' holds credentials",
            "leave it out",
        ),
        (
            CLASS + 'paths = ["/"]\nstatus = [99]\n',
            "line 5, column 11",
            "item 1 of 'status' is 99",
            "whole number",
        ),
        (CLASS + 'paths = ["/{id}"]\n', "line 4, column 10", "'/{id}' has a character", "%XX"),
        (CLASS + "wieght = 1\n", "line 4, column 1", "unknown key 'wieght'", "mean 'weight'?"),
        ("titel = 'x'\n" + CLASS, "line 1, column 1", "unknown key 'titel'", "mean 'title'?"),
        ("[files]\nnam = 'f'\n" + SIZED, "line 2, column 1", "unknown key 'nam'", "mean 'name'?"),
        ("", "line 1, column 1", "'class' is missing", "add class"),
        ("class = []\n", "line 1, column 1", "'class' is not a list, or is empty", "[[class]]"),
        ("class = [1]\n", "line 1, column 10", "is not a table", "write"),
        (CLASS, "line 1, column 1", "class 'a' has neither sizes, paths nor dynamic", "give it"),
        (
            CLASS + 'sizes = [1]\ndynamic = "cgi"\n',
            "line 1, column 1",
            "class 'a' has both sizes and dynamic",
            "two classes",
        ),
        (
            FILES + SIZED.replace("100", "97"),
            "line 3, column 1",
            "the weights sum to 97, not 100",
            "sum = 97",
        ),
        (
            "sum = 1000\n" + FILES + SIZED,
            "line 1, column 1",
            "the weights sum to 100, not 1000",
            "sum = 100",
        ),
        (
            FILES + CLASS + "sizes = [5, 0]\n",
            "line 6, column 13",
            "item 2 of 'sizes' is 0, not a whole number of at least 1",
            "write",
        ),
        (FILES + CLASS + "sizes = [-5]\n", "line 6, column 10", "item 1 of 'sizes' is -5", ""),
        (FILES + CLASS + "sizes = [1.5]\n", "line 6, column 10", "is 1.5, not a whole", ""),
        (FILES + CLASS + "sizes = [true]\n", "line 6, column 10", "is True, not a whole", ""),
        (FILES + CLASS + "sizes = []\n", "line 6, column 1", "'sizes' is not a list", ""),
        (FILES + SIZED.replace("100", "0"), "line 5, column 1", "'weight' is 0, not a whole", ""),
        (FILES + CLASS.replace("weight = 100\n", "sizes = [1]\n"), "line 3", "'weight' is", "add"),
        (
            CLASS + 'dynamic = "inproces"\n',
            "line 4, column 1",
            "unknown dynamic 'inproces'",
            "did you mean 'inprocess'?",
        ),
        (CLASS + 'dynamic = "cgi"\n', "line 4, column 1", "a program without its size", "size ="),
        (
            CLASS + 'dynamic = "cgi-env"\nsize = 670\n',
            "line 5, column 1",
            "the size of an environment is not the same on every server",
            "size_about",
        ),
        (CLASS + 'dynamic = "cgi"\nsize = 1\nsize_about = 1\n', "line 6", "both size and", "keep"),
        (
            CLASS + 'paths = ["/a",\n  "b.html"]\n',
            "line 5, column 3",
            "the path 'b.html' does not begin with '/'",
            "write '/b.html'",
        ),
        (CLASS + 'paths = ["/a b"]\n', "line 4, column 10", "no request line can carry", "%XX"),
        (CLASS + 'paths = ["/a\\r\\nX: y"]\n', "line 4", "no request line can carry", "%XX"),
        (CLASS + 'paths = ["/ä"]\n', "line 4, column 10", "no request line can carry", "%XX"),
        (CLASS + 'paths = "/a"\n', "line 4, column 1", "'paths' is not a list", "write paths = ["),
        (SIZED, "line 1, column 1", "classes with files need the name of their set", "add [files]"),
        (
            FILES + PATHS,
            "line 1, column 1",
            "no class has files",
            "remove [files]",
        ),
        ("[files]\n" + SIZED, "line 1, column 1", "'name' is missing", "add name"),
        (
            '[files]\nname = "../x"\n' + SIZED,
            "line 2, column 1",
            "'../x' cannot be part",
            "letters",
        ),
        ('[files]\nname = "x.manifest"\n' + SIZED, "line 2", "name of a manifest", "choose"),
        (FILES + SIZED.replace('"a"', '"a/b"'), "line 4, column 1", "'a/b' cannot be part", ""),
        (FILES + SIZED + "size = 5\n", "line 7, column 1", "'size' of a class of files", "remove"),
        (
            CLASS + 'files_of = "pgae"\n',
            "line 4, column 1",
            "no class above has the name 'pgae' and files",
            "describe it first",
        ),
        (
            FILES + SIZED + CLASS.replace('"a"', '"b"') + 'files_of = "aa"\n',
            "line 10, column 1",
            "no class above has the name 'aa' and files",
            "did you mean 'a'?",
        ),
        (FILES + SIZED + SIZED, "line 8, column 1", "two classes have the name 'a'", "of its own"),
        (FILES + CLASS + "spread = [5]\nfiles = 9\n", "line 6", "the spread [5] is not", "two"),
        (FILES + CLASS + "spread = [5, 4]\nfiles = 9\n", "line 6", "[5, 4] is not from a", "two"),
        (FILES + CLASS + "spread = [4, 5]\n", "line 3", "needs 2 to 1,000,000 files", "files ="),
        (FILES + CLASS + "spread = [4, 5]\nfiles = 1\n", "line 7", "needs 2 to 1,000,000", ""),
        (FILES + CLASS + "spread = [4, 5]\nfiles = 1000001\n", "line 7", "needs 2 to", "sizes"),
        (FILES + CLASS + "sizes = [4, 5]\nfiles = 1\n", "line 7", "1 files cannot have 2", "= 2"),
        (CLASS + "files = 3\npaths = ['/']\n", "line 4", "'files' without sizes", "remove it"),
        ("clients = [10, 5]\n" + PATHS, "line 1, column 16", "5 clients after 10", "ascending"),
        ("clients = [0]\n" + PATHS, "line 1, column 12", "item 1 of 'clients' is 0", ""),
        ("http = '2'\n" + PATHS, "line 1, column 1", "unknown http '2'", "known: 1.0, 1.1"),
        ("title = 3\n" + PATHS, "line 1, column 1", "'title' is not text", "quotes"),
        (PATHS + "tls = 1\n", "line 5, column 1", "'tls' is neither", "true"),
        ("title = \n", "line 1, column 9", "Invalid value", "TOML syntax"),
        (f"title = {'[' * 5000}", "", "nested too deep", "fewer levels"),
    ],
)
def test_an_error_is_named_with_its_place_and_a_remedy(
    text: str, where: str, what: str, remedy: str
) -> None:
    with pytest.raises(BadWorkload) as error:
        parse(text, "own.toml")
    assert error.value.message.startswith(f"own.toml, {where}" if where else "own.toml: ")
    assert what in error.value.message
    assert remedy in error.value.remedy


def test_a_workload_is_found_by_its_name_or_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_text(OWN)
    assert find(str(file)).name == "shop"
    assert find("webbench1-light").name == "webbench1-light"
    with pytest.raises(BadInput) as error:
        find("webbench1-lite")
    assert error.value.message == "unknown workload 'webbench1-lite'"
    assert error.value.remedy.startswith("did you mean 'webbench1-light'? known: cgi-html, ")
    with pytest.raises(BadWorkload, match=r"cannot read the workload .*: No such file"):
        find(str(tmp_path / "absent.toml"))
    file.write_bytes(b"\xff")
    with pytest.raises(BadWorkload, match="it is not UTF-8 text"):
        find(str(file))
