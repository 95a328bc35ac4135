"""Our tab in Locust's page, where a script shows our live page, and the page's start form."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sitebench.locust.bridge import Bridge
from sitebench.locust.user import runs_unnamed
from sitebench.locust.web_ui.form import label
from sitebench.options.option import PANELS, fields_of

if TYPE_CHECKING:
    from flask import Response

_LIVE = "sitebench-live"


def template_args() -> dict[str, Any]:
    return {
        "extended_tabs": [{"key": _LIVE, "title": "Live"}],
        "extended_csv_files": [
            {"href": "./sitebench/report?download", "title": "Download report"},
            {"href": "./sitebench/run", "title": "Download run file"},
            {"href": "./sitebench/live", "title": "Live page"},
        ],
    }


_FIRST = ("target", "base", "names", "entries", "stages")


def _groups(options: type[Any], names: Collection[str]) -> dict[str, list[str]]:
    panels = {field.name: spec.panel for field, spec in fields_of(options)}
    groups: dict[str, list[str]] = {title: [] for title in (*PANELS[1:], "Others")}
    for name in names:
        groups[panels.get(name, "Others")].append(name)
    return {title: members for title, members in groups.items() if members}


def draw_form(web_ui: Any, options: type[Any], *, mixed: bool) -> None:
    """Begin the start form with the operation and `_FIRST`, and group the other fields.

    Locust's picker would begin with every user class chosen, so frame.js draws another picker. If
    the file also has other classes (`mixed`), the field for a host belongs to them; otherwise the
    field is hidden.
    """
    locusts_own = web_ui.update_template_args

    def update() -> None:
        locusts_own()
        args, environment = web_ui.template_args, web_ui.environment
        available, running = environment.available_user_classes, environment.user_classes
        some = [name for name, user in available.items() if user in running]
        unnamed = [name for name, user in available.items() if runs_unnamed(user)]
        extra = args["extra_options"]
        for option in extra.values():  # Locust's page puts the help in brackets.
            option["help_text"] = (option["help_text"] or "").removesuffix(".")
        summaries = {  # The form shows plain text.
            name: (user.__doc__ or "").strip().partition("\n")[0].replace("`", "")
            for name, user in available.items()
        }
        first = {name: extra.pop(name) for name in _FIRST if name in extra}
        groups = _groups(options, extra)
        args["extra_options"] = {name: extra[name] for group in groups.values() for name in group}
        args["show_userclass_picker"] = False
        args["sitebench_form"] = {
            "mixed": mixed,
            "operations": [{"name": name, "about": text} for name, text in summaries.items()],
            "chosen": some[:1] if some == unnamed else some,
            "shapes": args["available_shape_classes"],
            "fields": [
                {"name": name, "title": label(name), **entry} for name, entry in first.items()
            ],
            "groups": [[title, names[0]] for title, names in groups.items()],
            "labels": {
                name.replace("_", " ").title(): label(name)
                for names in groups.values()
                for name in names
            },
        }

    web_ui.update_template_args = update


def without_tasks(response: Response, lane_names: Collection[str]) -> None:
    """Leave out the task of each lane class, as its users have only that task."""
    document = json.loads(response.get_data())
    for ratios in document.values():
        for name, ratio in ratios.items():
            if name in lane_names:
                ratio.pop("tasks", None)
    response.set_data(json.dumps(document))


def keep_polling(response: Response, bridge: Bridge) -> None:
    """Answer the page's poll with a state after which the page polls again."""
    stats = json.loads(response.get_data())
    stats["state"] = bridge.runner.state
    if bridge.role.preparing is not None:
        stats["state"] = "spawning"
    elif stats["state"] == "cleanup":
        stats["state"] = "running"
    response.set_data(json.dumps(stats))
