"""Line counts of product, tests and docs, in a checkout of a few files."""

import subprocess
from pathlib import Path

from tests.lines import count_lines

PYTHON = '''\
"""A docstring counts.

# Within it, this does too.
"""
# A comment.

X = """a
   # and so does this"""  # behind code
'''

RUST = """\
//! Doc comments are comments.
/// This too.
fn one() -> u8 {
    // A comment.

    1
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_one() {}
}
"""


def test_line_count_omits_blank_lines_and_comments_and_separates_rust_tests(tmp_path: Path) -> None:
    files = {
        "sitebench/counts/a.py": PYTHON,
        "sitebench/errors.py": "X = 1\n",
        "native/tester/load/src/lib.rs": RUST,
        "native/tester/load/src/http/mod.rs": "#[cfg(test)]\nmod tests;\n",
        "native/tester/load/src/http/tests.rs": "fn two() {}\n",
        "tests/test_a.py": "X = 1\n\nY = 2\n",
        "docs/page.md": "# Title\n\nText.\n",
        "docs/decisions/0001-a.md": "# 0001\n",
        "ils_bench/data.toml": "[data]\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q"], check=True, cwd=tmp_path)
    subprocess.run(["git", "add", "."], check=True, cwd=tmp_path)
    assert count_lines(tmp_path) == {
        ("product", "sitebench/counts"): 5,
        ("product", "sitebench"): 1,
        ("product", "native/tester/load"): 3 + 2,
        ("tests", "native/tester/load"): 5 + 1,
        ("tests", "tests"): 2,
        ("docs", "docs"): 2,
        ("docs", "docs/decisions"): 1,
    }
