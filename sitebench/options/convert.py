"""Conversion of options to Locust arguments and to texts, and back.

Locust keeps values as text until `from_namespace`: its web form converts a posted text to the type
of the previous value, and `int("10k")` would fail.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sitebench.errors import UnknownValue
from sitebench.options.option import OneOf, Option, fields_of, named
from sitebench.options.spelling import long_option

_T = TypeVar("_T")


_FORM_FIRST = ("target", "entries", "rate", "arrivals", "think", "keys")


def to_texts(instance: Any) -> dict[str, str]:
    """Return texts of set values by field name, without values for this machine only."""
    return {
        field.name: spec.text(value)
        for field, spec in fields_of(type(instance))
        if not spec.local and (value := getattr(instance, field.name)) is not None
    }


def check(instance: Any) -> None:
    """Raise if a value, given by a program, is invalid for its option."""
    for field, spec in fields_of(type(instance)):
        value = getattr(instance, field.name)
        if value is not None and value != field.default and not spec.is_flag:
            named(spec.parse, field.name)(spec.show(value))


def to_argv(instance: Any) -> list[str]:
    argv = []
    for field, spec in fields_of(type(instance)):
        value = getattr(instance, field.name)
        if not spec.locust or value == spec.locust_default:
            continue
        if spec.is_flag:
            argv.append(long_option(field.name) if value else long_option(f"no_{field.name}"))
        elif value is not None:
            argv.append(f"{long_option(field.name)}={spec.show(value)}")
    return argv


def add_arguments(parser: argparse.ArgumentParser, cls: type[Any], title: str) -> None:
    option_texts = {text for action in parser._actions for text in action.option_strings}
    group = parser.add_argument_group(title)
    for field, spec in sorted(fields_of(cls), key=_form_order):
        if not spec.locust:
            continue
        if long_option(field.name) in option_texts:
            if parser.get_default(field.name) is None and spec.locust_default is not None:
                parser.set_defaults(**{field.name: spec.show(spec.locust_default)})
            continue
        action: Any
        explanation = argparse.SUPPRESS if spec.hidden else spec.help.replace("%", "%%")
        if spec.is_flag:
            is_switch = field.default is None
            action = group.add_argument(
                long_option(field.name),
                action=_Switch if is_switch else argparse.BooleanOptionalAction,
                default="" if is_switch else field.default,
                choices=("", "on", "off") if is_switch else None,
                help=explanation,
            )
        else:
            action = group.add_argument(
                long_option(field.name),
                type=_checking(spec.parse),
                default="" if spec.locust_default is None else spec.show(spec.locust_default),
                metavar=spec.metavar,
                help=explanation,
            )
            if isinstance(spec.parse, OneOf):
                # The form preselects the first choice, which is empty without a default.
                nothing = ("",) if spec.locust_default is None else ()
                action.choices = (*nothing, *spec.parse.allowed)
        # Locust's parser sets these attributes, and an argument group does not.
        action.include_in_web_ui = spec.form and not spec.hidden
        action.is_secret = action.is_required = action.is_multiple = False


class _Switch(argparse.BooleanOptionalAction):
    """A flag without a default, which is a choice in the web form: empty, on or off."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, "off" if option_string.startswith("--no-") else "on")


def _form_order(field_and_option: tuple[dataclasses.Field[Any], Option]) -> int:
    name = field_and_option[1].setting or field_and_option[0].name
    return _FORM_FIRST.index(name) if name in _FORM_FIRST else len(_FORM_FIRST)


def set_locust_defaults(parser: argparse.ArgumentParser) -> None:
    # The web page shows all classes. Locust listens on loopback; --bind is for remote workers.
    loopback = "127.0.0.1"
    parser.set_defaults(class_picker=True, web_host=loopback, master_bind_host=loopback)


def narrow(cls: type[_T], source: Any) -> _T:
    names = [field.name for field, _ in fields_of(cls) if hasattr(source, field.name)]
    return cls(**{name: getattr(source, name) for name in names})


def _checking(parse: Callable[[str], Any]) -> Callable[[str], str]:
    def check(text: str) -> str:
        try:
            if text:
                parse(text)
        except UnknownValue as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return text

    return check


def from_namespace(cls: type[_T], namespace: argparse.Namespace) -> _T:
    """Return options from arguments that Locust parsed, or values that its web form posted."""
    posted = vars(namespace)
    options = from_texts(cls, posted)
    unset = {
        field.name: spec.locust_default
        for field, spec in fields_of(cls)
        if spec.locust and posted.get(field.name) in (None, "")
    }
    return dataclasses.replace(options, **unset)  # type: ignore[type-var]


def from_texts(cls: type[_T], texts: Mapping[str, Any]) -> _T:
    """Return options from texts by field name; missing fields have defaults."""
    values: dict[str, Any] = {}
    for field, spec in fields_of(cls):
        value = texts.get(field.name)
        if spec.is_flag:
            if value not in (None, ""):
                values[field.name] = str(value).lower() in ("true", "on")
        elif value not in (None, ""):
            values[field.name] = spec.parse(str(value))
    return cls(**values)
