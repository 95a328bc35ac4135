"""Locust's web page with sitebench's tabs, used like a person: in a browser, by its contents."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sitebench.system.network import free_port
from tests.support.browser import Browser
from tests.support.cli import SITEBENCH
from tests.support.locusts import FORKED_UI, Locust
from tests.support.screen import Screen
from tests.support.ui_address import UiAddress, printed
from tests.support.waiting import ends_s, eventually

# React listens to events, and overwrites values set without them.
FILL = """
const [name, value] = arguments;
const field = [...document.getElementsByName(name)].at(-1);
const kind = field instanceof HTMLSelectElement ? HTMLSelectElement : HTMLInputElement;
Object.getOwnPropertyDescriptor(kind.prototype, 'value').set.call(field, value);
field.dispatchEvent(new Event(kind === HTMLSelectElement ? 'change' : 'input', {bubbles: true}));
return field.value;
"""
CHOOSE = """
const list = document.getElementsByName('userClasses')[0];
for (const each of list?.options ?? []) each.selected = arguments[0].includes(each.value);
return list?.selectedOptions.length === arguments[0].length;
"""
PRESS = """
const button = [...document.querySelectorAll('button')].filter(each =>
  each.textContent.trim() === arguments[0]).at(-1);
if (button) button.click();
return Boolean(button);
"""
TAB = """
const tab = [...document.querySelectorAll('[role=tab]')].find(each =>
  each.textContent === arguments[0]);
if (tab) tab.click();
return Boolean(tab);
"""
LIVE = "const page = document.querySelector('iframe[src]')?.contentDocument; "
LINES = (
    LIVE + "return Object.fromEntries([...page.querySelectorAll('figure')].map(f =>"
    " [f.dataset.chart, [...f.querySelectorAll('path')].map(p => p.getAttribute('d')).join()]))"
)


class WebPage:
    def __init__(self, browser: Browser, root: UiAddress) -> None:
        self.browser = browser
        self.root = root
        self.screen = Screen(root)

    def open(self) -> None:
        """Load the page and wait until it is drawn."""
        self.browser.open(self.root.page)
        assert self.sees("return document.querySelectorAll('button, input').length > 3")

    def sees(self, script: str, *arguments: object) -> bool:
        """Wait until a script in the page returns true."""
        return eventually(lambda: bool(self.browser.run(script, *arguments)))

    def fill(self, **fields: str) -> None:
        """Write into the form's fields, by their names there."""
        for name, value in fields.items():
            assert self.browser.run(FILL, name, value) == value, name

    def choose(self, *classes: str) -> None:
        assert self.sees(CHOOSE, list(classes)), classes

    def press(self, button: str) -> None:
        """Press a button; of several with this name the last, which is in front."""
        assert self.sees(PRESS, button), button

    def start(self, user_class: str, **fields: str) -> None:
        """Start a test from the form."""
        self.choose(user_class)
        self.fill(**fields)
        self.press("Start")

    def tab(self, name: str) -> None:
        assert self.sees(TAB, name), name

    def lines(self) -> dict[str, str]:
        """Return the lines of each live chart, or none before the page is loaded."""
        if not self.browser.run(LIVE + "return Boolean(page?.querySelector('figure'))"):
            return {}
        lines: dict[str, str] = self.browser.run(LINES)
        return lines

    def get(self, path: str) -> bytes:
        """Return the target of a link."""
        return self.screen.read(path)


@contextmanager
def web_ui(
    folder: Path,
    suite: str,
    *arguments: str,
    output: list[str] | None = None,
    before: Sequence[str] = (),
    forked: bool = True,
    **env: str,
) -> Iterator[tuple[Locust, UiAddress]]:
    """Yield `sitebench HALF ui` and its address once it answers; Ctrl-C stops it.

    Its output is appended to `output`. A `forked` one has its imports already, and has another name
    in a process list; otherwise the command begins with `before`.
    """
    assert not (forked and before), "words before a command that is none"
    argv = [suite, "ui", "--no-browser", "--web-port", str(free_port()), *arguments]
    start: dict[str, Any] = {"main": FORKED_UI, "command": [*before, *SITEBENCH]}
    with Locust(*argv, cwd=folder, env=env, together=True, forked=forked, **start) as process:
        try:
            yield process, printed(process)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=ends_s())
            print(said)  # Shown where the test fails.
            if output is not None:
                output.append(said)
