"""From a recording of a browser to a scenario file.

The requests of a host become the steps of an operation. If a later request sends a value of an
answer, the value is captured. A value that is sent under the name of a secret is never written: it
becomes a column of accounts, or an environment variable. A note lists the lines with random texts,
which can be secrets too.
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlsplit

import msgspec

from sitebench._engine import EngineError
from sitebench._engine import Scenario as Read
from sitebench.errors import BadFile, UnknownValue, printable
from sitebench.scenario.recording import Exchange, read
from sitebench.scenario.script import SECRET
from sitebench.units import plural

_LEAST = 8
"""Least length of a value that is captured: a shorter value can be in an answer by chance."""
_LEAST_PASSWORD = 4
"""Least length of a password that is recognised even if it is sent under another name."""
_MOST_CAPTURES = 64
"""The engine's limit on the captures of a step."""
_MOST_PLACES = 20
_DEEPEST = 20
"""The deepest nesting of JSON in a scenario; the scenario's reader accepts 24 nested brackets."""
_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 600.0
"""Pauses under 1 s come from the browser, so they are left out; longer ones last 600 s."""
_FORM = "application/x-www-form-urlencoded"
_PART = re.compile(r"((?:[^\r\n]+\r?\n)+\r?\n)(.*)", re.DOTALL)
"""A part of a multipart form (RFC 7578): its headers, and its value."""
_PART_NAME = re.compile(r";[ \t]*name=\"?([^\";\r\n]*)")
_OF_BROWSER = re.compile(
    r"sec-.*|user-agent|accept-encoding|connection|keep-alive|proxy-connection|host|origin|cookie|"
    r"content-length|content-type|transfer-encoding|te|dnt|priority|pragma|cache-control|if-.*|"
    r"upgrade-insecure-requests",
    re.IGNORECASE,
)
"""Headers that browsers, and the load generator, add to every request."""
_OWN_ACCEPT = re.compile(r"text/html|text/css|image/|\*/\*")
"""The begin of an `Accept` header that the browser itself chose, and not a script."""
_PASSWORD = re.compile(r"(?i:pass|pwd|kennwort|wachtwoord|contrase|senha|credential|pw(?![a-z]))")
_TOKEN = re.compile("(?i:token|csrf|xsrf|nonce)")
"""Names of values that come from an answer, and not from an account."""
_SECRET = re.compile(
    rf"(?i:{SECRET.pattern})|{_PASSWORD.pattern}"
    r"|(?i:(api|access|private|subscription)[_-]?key|sess(ion|id)|jwt|saml|signature)"
    r"|(?i:auth(?!or(?!i))|otp(?![a-z])|cv[cv])|^(?i:code)$"
    r"|((?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))(?i:pin|sid|sig|sess|cred)(?![a-z])"
    rf"|{_TOKEN.pattern}"
)
"""Names of secrets, such as `auth` (not `author`), `userPin` and `a.sid` (not `spin`, `inside`)."""
_SAID = re.compile(rf"({_SECRET.pattern})\w{{0,40}}[\"'\\]{{0,9}}\s{{0,9}}[:=>]|[?&]code=")
"""A secret within a longer text, such as an address or a query of GraphQL."""
_NO_SECRET = re.compile("true|false|null|undefined", re.IGNORECASE)
_LOGIN = re.compile(r"user|mail|login|account|uid|phone|name", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NO_HEADER = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_BEFORE_NAME = re.compile(
    r"(?<!\{)\{++(?=[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_;-]*)?(\}|:[^{}]*\}))"
)
_OBJECT = re.compile(r"\d{1,19}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_KEY = re.compile(r"(?<![A-Za-z])([Ii][Dd]|pk|uuid|key|number)$|[a-z]I[Dd]$")
"""Ends of the names of JSON members that hold the number of an object."""
_ORIGIN = re.compile("^https?://[^/?#]*|#.*", re.IGNORECASE)
_OF_CONTENT = re.compile(r">[^<]*\w[^<]*<|(?<![\w-])\d+(?![\w-])")
"""Texts between tags, and numbers: both differ from object to object."""
_TAKEN = re.findall(r"\w+", "account base choice env iteration now random user uuid worker")
_TO_ESCAPE = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Converted(msgspec.Struct, frozen=True):
    text: str
    notes: Sequence[str]


def convert(
    har: str, source: str, host: str | None = None, *, think: bool = True, pages_only: bool = False
) -> Converted:
    reasons = [(e, e.unusable(pages_only=pages_only)) for e in read(har, source)]
    left_out = Counter(reason for _, reason in reasons if reason)
    usable = [exchange for exchange, reason in reasons if not reason]
    if not usable:
        raise BadFile(f"{source} has no request that was answered", "record a visit of the site")
    hosts = Counter(exchange.host for exchange in usable)
    site = usable[0].host if host is None else host.lower()
    if site not in hosts:
        names = ", ".join(map(printable, hosts))
        raise UnknownValue(f"{source} has no request to {host}", f"use one of {names}")
    left_out += Counter({other: n for other, n in hosts.items() if other != site})
    exchanges = [exchange for exchange in usable if exchange.host == site]
    secrets = dict[str, str]()
    credentials = {value: name for e in reversed(exchanges) for name, value in _credentials(e)}
    # In a recording, the name of a secret may come after the secret. So a first pass only collects
    # secrets.
    for collects in (True, False):
        conversion = _Making(secrets, credentials, collects)
        for exchange, pause_s in zip(exchanges, _pauses(exchanges), strict=True):
            conversion.add(exchange, pause_s if think else 0.0)
    many = f"{plural(len(exchanges), 'request')} of {site}"
    text = conversion.render(f"{many}, made of {source}")
    try:
        Read(text, {})
    except EngineError as error:
        message = f"{source} cannot be written as a scenario: {str(error).splitlines()[0]}"
        raise BadFile(message, "leave that request out of the recording") from None
    omissions = ", ".join(f"{reason} ({n})" for reason, n in left_out.most_common())
    notes = [many + (f"; left out: {omissions}" if omissions else "")]
    notes += dict.fromkeys(conversion.notes)
    if cookies := _preset_cookies(exchanges):
        notes.append(
            f"no answer sets the cookies {', '.join(cookies)}: unless scripts do, begin the "
            "recording in a private window"
        )
    notes += conversion.needs(text)
    return Converted(text, notes)


def _credentials(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the credentials in the headers and address of a request."""
    pairs = [("password", urlsplit(exchange.url).password or "")]
    pairs += [(name, unquote(text)) for name, text in exchange.sent_cookies if _SECRET.search(name)]
    for name, text in exchange.sent_headers:
        if _is_secret_header(name):
            scheme, _, value = text.strip().rpartition(" ")
            pairs.append((f"{name} credential" if scheme else name, value))
            with contextlib.suppress(ValueError):
                user, _, password = base64.b64decode(value).decode().partition(":")
                pairs += [(f"{name} password", password)] if user.isprintable() else []
    for name, value in pairs:
        if _is_value(value) or ("password" in name and len(value) >= _LEAST_PASSWORD):
            yield name, value


def _is_secret_header(name: str) -> bool:
    return name.lower().endswith("key") or _SECRET.search(name) is not None


def _pauses(exchanges: Sequence[Exchange]) -> Iterator[float]:
    ended_s: float | None = None
    for exchange in exchanges:
        if (begun_s := exchange.begun_s) is None:
            yield 0.0
            continue
        pause_s = 0.0 if ended_s is None else begun_s - ended_s
        yield min(pause_s, _LONGEST_PAUSE_S) if pause_s >= _PAUSE_S else 0.0
        ended_s = max(ended_s or begun_s, begun_s + exchange.took_s)


def _preset_cookies(exchanges: Sequence[Exchange]) -> Sequence[str]:
    preset, answered = dict[str, None](), set[str]()
    for exchange in exchanges:
        preset |= {name: None for name, _ in exchange.sent_cookies if name not in answered}
        answered |= {name for name, _ in exchange.cookies}
    return [*filter(None, preset)]


@dataclass
class _Step:
    """A step made of a request. The answer can have values that later requests send."""

    exchange: Exchange
    keys: dict[str, Any]
    pause_s: float
    captures: dict[str, dict[str, str]] = field(default_factory=dict)

    @cached_property
    def _members(self) -> Mapping[str, Sequence[str]]:
        """JSON pointers in the answer, by the value at which they point."""
        pointers: dict[str, list[str]] = {}
        for pointer, value in _leaves(_json(self.exchange.body)):
            pointers.setdefault(value, []).append(pointer)
        return pointers

    @cached_property
    def _numbers(self) -> frozenset[str]:
        """Parts of paths in the answer that look like the number of an object."""
        parts = re.finditer(rf"/({_OBJECT.pattern})(?![\w-])", self.exchange.body, re.IGNORECASE)
        return frozenset(part[1] for part in parts)

    def leads_to(self, following: Exchange) -> bool:
        lines = [text for name, text in self.exchange.headers if name.lower() == "location"]
        redirects = lines and 300 <= self.exchange.status < 400 and following.method == "GET"
        return bool(redirects) and _ORIGIN.sub("", lines[0]) == _ORIGIN.sub("", following.url)

    def source(self, value: str, name: str, path: str | None) -> dict[str, str] | None:
        """Return the place of a value in the answer; None if there is none, or several in JSON.

        The number of an object is found after the same `path`, or in a JSON member such as `id`.
        """
        sure = _is_value(value)
        pointers = [p for p in self._members.get(value, ()) if sure or _KEY.search(p)]
        if len(pointers) == 1:
            return {"json": pointers[0]}
        may_be = value in self._numbers if path else path is None and not self._members
        body = self.exchange.body if may_be else ""
        source = _find_between(body, value, path or name, path or "")
        if source or pointers or not sure:
            return source
        for cookie, text in self.exchange.cookies:
            # Scripts, and the engine, read a cookie unquoted.
            if unquote(text) == value:
                return {"cookie": cookie}
        for header, text in self.exchange.headers:
            if text == value and _HEADER_NAME.fullmatch(header):
                return {"header": header}
        return None


def _find_between(body: str, value: str, name: str, path: str) -> dict[str, str] | None:
    """Return the texts around a value, by which the engine captures it.

    Return None if a value that can be in the body by chance, such as a date, occurs several times.
    """
    times = body.count(path + value)
    if not times or (times > 1 and not (path or _SECRET.search(name) or _random(value))):
        return None
    text = rf"{re.escape(path)}(?<![\w-]){re.escape(value)}(?![\w-])([\0-\x7f])"
    for place in islice(re.finditer(text, body), _MOST_PLACES):
        offset = place.start(1) - len(value)
        # The engine compares bytes, so the prefix is ASCII, the same in all encodings.
        tail = re.split(r"[^\t -~]", body[max(0, offset - 200) : offset])[-1]
        starts = [match.start() + (match[0] != "<") for match in re.finditer(r"[<\s,;{&?(]", tail)]
        tails = [tail[start:] for start in reversed(starts) if name in tail[start:]]
        # The shortest prefix is taken that has the name of the value, or the tag around the value.
        for prefix in (path, *tails, tail[max(0, tail.rfind("<")) :], tail):
            varies = not prefix or place[1] in value or (path and _OF_CONTENT.search(prefix))
            if not varies and body.find(prefix) + len(prefix) == offset:
                return {"before": prefix, "until": place[1]}
    return None


@dataclass
class _Making:
    _secrets: dict[str, str]
    """The name under which a secret was sent first, by value."""
    _credentials: Mapping[str, str]
    """The names of the credentials of the person who recorded, by value."""
    _collects: bool
    """Whether the recording is only searched for secrets, before a scenario is made of it."""
    notes: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    _captures: dict[str, str] = field(default_factory=lambda: dict.fromkeys(_TAKEN, ""))
    _names: dict[str, str] = field(default_factory=dict)
    """Names of steps, with the path and the expected status of each."""
    _numbered_steps: list[str] = field(default_factory=list)
    """Steps whose paths have numbers that were not captured."""
    _logins: set[str] = field(default_factory=set)
    _steps: list[_Step] = field(default_factory=list)
    _fields: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names of fields in the scenario, by the path before an object's number and by value."""
    _looked: dict[tuple[str | None, str], int] = field(default_factory=dict)
    """The number of answers that were searched for a value behind a path."""

    def add(self, exchange: Exchange, pause_s: float) -> None:
        verb, status = exchange.method.lower(), exchange.status
        reads = verb in ("get", "head")
        path = self._path(exchange.url)
        keeps = not self._collects and any(map(_OBJECT.fullmatch, re.split("[/;?]", path)))
        last = self._steps[-1] if keeps and self._steps else None
        if last and not last.captures and last.leads_to(exchange):
            # Only the redirect's address has the number of a new object (`/orders/17`), so the
            # previous step has to follow the redirect.
            followed = last.keys | {"follow": True, "expect": {"status": status}}
            self._steps[-1] = _Step(exchange, followed, last.pause_s)
            self._looked.clear()
            return
        bare = re.sub(r"[^A-Za-z0-9_.,:+-]+", " ", path.partition("?")[0]).strip() or "root"
        for random in _random(bare):
            bare = bare.replace(random, "...")
        # The load generator has no cache, so it receives 200 where the browser received 304.
        expected = "" if status == 304 or (reads and status == 200) else str(status)
        name = _unique_name(self._names, f"{verb} {bare}"[:58].rstrip(), f"{path} {expected}")
        self._numbered_steps += [name] * keeps
        keys: dict[str, Any] = {"name": name, verb: path}
        if headers := dict(self._headers(exchange, reads=reads)):
            keys["headers"] = headers
        if exchange.sent and not reads:
            keys |= self._body(exchange.sent_type, exchange.sent)
        if expected:
            keys["expect"] = {"status": status}
        self._steps.append(_Step(exchange, keys, pause_s))

    def _path(self, url: str) -> str:
        address = urlsplit(url)
        begun = 0

        def fill(part: re.Match[str]) -> str:
            nonlocal begun
            name, prefix = (part[1] or ";id=")[1:-1], part.string[begun : part.start()]
            value = self._field(unquote(part[2]), unquote(name), path=prefix)
            begun = part.end() if value else begun
            return _of_url(part[1] or "") + (value or _of_url(part[2]))

        path = re.sub(r"(;[^/;=]*=)?([^/;]+)", fill, address.path or "/")
        return path + (f"?{self._pairs(address.query)}" if address.query else "")

    def _pairs(self, text: str, login: str = "") -> str:
        """Return the text of a query or a form, with fields in place of values."""
        pairs = (pair.partition("=") for pair in text.split("&"))
        return "&".join(
            f"{_of_url(name)}{equals}"
            + (self._field(unquote_plus(value), unquote_plus(name), login) or _of_url(value))
            for name, equals, value in pairs
        )

    def _headers(self, exchange: Exchange, *, reads: bool) -> Iterator[tuple[str, str]]:
        for name, text in exchange.sent_headers:
            of_browser = _OF_BROWSER.fullmatch(name) or (
                name.lower() == "accept" and _OWN_ACCEPT.match(text)
            )
            if of_browser or not _HEADER_NAME.fullmatch(name) or _NO_HEADER.search(text):
                continue
            kind, space, value = text.rpartition(" ")
            if name.lower() == "referer":
                # Sites can check the origin of a change. The path is cut, because it can be secret.
                if not reads and (origin := re.match(r"https?://[^/?#@]+(?![^/?#])", text)):
                    yield name, _escape(f"{origin[0]}/")
            elif not self._tells(kind) and (field := self._capture(value, name)):
                yield name, f"{_escape(kind)}{space}{field}"
            elif _is_secret_header(name) or self._tells(text):
                yield name, self._variable(name, text)
            else:
                yield name, _escape(text)

    def _body(self, kind: str, sent: str) -> dict[str, Any]:
        text = sent
        short = kind.partition(";")[0].strip().lower()
        if short == _FORM:
            pairs = parse_qsl(text, keep_blank_values=True)
            login = _login([name for name, _ in pairs])
            if len(dict(pairs)) < len(pairs) or "\ufffd" in str(pairs):
                return {"body": self._pairs(text, login)}
            return {"form": {name: self._text(value, name, login) for name, value in pairs}}
        document = _json(text) if short.endswith("json") else None
        if isinstance(document, dict | list):
            login = _login([pointer.rpartition("/")[2] for pointer, _ in _leaves(document)])
            if short == "application/json" and _in_toml(document):
                return {"json": self._fill(document, "", login, str)}
            filled = self._fill(document, "", login, _escape)
            return {"body": json.dumps(filled, ensure_ascii=False), "content_type": kind}
        literal = text
        if short == "multipart/form-data":
            parts: list[tuple[str, str, str]] = []
            for piece in re.split(r"(\r?\n--)", text):
                part = _PART.fullmatch(piece)
                name = part and _PART_NAME.search(part[1])
                parts.append((part[1], name[1], part[2]) if part and name else (piece, "", ""))
            literal = "\n".join(head for head, name, _ in parts if not name)
            login = _login([name for _, name, _ in parts])
            text = "".join(
                _escape(head) + self._text(value, name, login) for head, name, value in parts
            )
        else:
            text = _escape(text)
        if _SECRET.search(literal) or self._has_secret(literal):
            text = self._variable("body", sent)
            self.notes.append(f"{text} is a body with a secret, which is not written into the file")
        return {"body": text, "content_type": kind or "text/plain"}

    def _fill(self, value: Any, name: str, login: str, write_name: Callable[[str], str]) -> Any:
        """Return JSON with fields in place of values, and names by `write_name`."""
        if isinstance(value, dict):
            name_of = value.get("name")
            names = {key: key for key in value}
            names |= {"value": name_of} if isinstance(name_of, str) else {}
            if _SECRET.search(name):
                names = dict.fromkeys(names, name)
            return {
                write_name(key): self._fill(child, names[key], login, write_name)
                for key, child in value.items()
            }
        if isinstance(value, list):
            return [self._fill(child, name, login, write_name) for child in value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(value, str) or (is_number and abs(value) > 99 and _SECRET.search(name)):
            return self._text(str(value), name, login)
        return value

    def _text(self, value: str, name: str, login: str) -> str:
        return self._field(value, name, login) or _escape(value)

    def _field(self, value: str, name: str, login: str = "", path: str | None = None) -> str | None:
        """Return the field that replaces a value; None if the value stays."""
        if not value:
            return None
        is_password, is_secret = _PASSWORD.search(name), _SECRET.search(name)
        is_long = len(value) >= _LEAST_PASSWORD if is_password else _is_value(value)
        if is_secret and is_long and not _NO_SECRET.fullmatch(value):
            self._secrets.setdefault(value, name)
        if login and name == login and not is_secret:
            column = self._column(name, value)
            self._logins.add(column)
            return column
        if not is_password and (field := self._capture(value, name, path)):
            return field
        credential = self._credentials.get(value)
        if credential and not _PASSWORD.search(self._secrets.get(value, "")):
            return self._variable(credential, value)
        if is_secret or value in self._secrets:
            name = self._secrets.get(value, name)
            return (self._variable if _TOKEN.search(name) else self._column)(name, value)
        return self._variable(name, value) if self._tells(value) else None

    def _tells(self, text: str) -> bool:
        """Return whether a text contains a secret or the name of a secret."""
        return not self._collects and bool(_SAID.search(text) or self._has_secret(text))

    def _has_secret(self, text: str) -> bool:
        secrets = (secret for secret in (*self._secrets, *self._credentials) if secret in text)
        return any(re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", text) for secret in secrets)

    def _capture(self, value: str, name: str, path: str | None = None) -> str | None:
        if path and not (_OBJECT.fullmatch(value) and re.search("[A-Za-z]", path)):
            path = ""
        key = ("" if _is_value(value) else path or "", value)
        field = self._fields.get(key)
        if field or self._collects or not (path or _is_value(value)):
            return field
        looked = self._looked.get((path, value), 0)
        self._looked[path, value] = len(self._steps)
        for step in reversed(self._steps[looked:]):
            is_full = len(step.captures) == _MOST_CAPTURES
            source = None if is_full else step.source(value, name, path)
            if source and not self._has_secret("\n".join(source.values())):
                label = path or "" if "before" in source else "".join(source.values())
                words = [word for word in label.split("/") if re.search("[A-Za-z]", word)]
                label = re.sub(r"[^A-Za-z0-9_-]+", "-", words[-1] if words else name)
                stem = label.strip("-_0123456789")[:50] or "value"
                capture = _unique_name(self._captures, stem, "".join(key))
                step.captures[capture] = source
                self.notes.append(f"{{{capture}}} comes from the answer to {step.keys['name']!r}")
                return self._fields.setdefault(key, f"{{{capture}}}")
        return None

    def _column(self, name: str, value: str) -> str:
        column = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_0123456789")[:50] or "secret"
        return f"{{account.{_unique_name(self.columns, column, value)}}}"

    def _variable(self, name: str, value: str) -> str:
        variable = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
        return f"{{env.{_unique_name(self.variables, variable, value)}}}"

    def needs(self, text: str) -> Iterator[str]:
        if places := ", ".join(_random_places(text)):
            yield f"lines {places} have random-looking texts: check that none is a secret"
        if self.columns:
            yield f"accounts.csv has to have the columns {','.join(self.columns)}"
        if tokens := ", ".join(f"${name}" for name in self.variables if _TOKEN.search(name)):
            yield f"no answer has the token of {tokens}: add its capture by hand"
        if names := [*map(repr, dict.fromkeys(self._numbered_steps))]:
            steps = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            cause = "no earlier answer has them in a place that can be captured"
            yield f"the numbers in the paths of {steps} are kept: {cause}"
        if self.variables:
            yield f"set {', '.join(f'${name}' for name in self.variables)} in the environment"

    def render(self, title: str) -> str:
        headers = [{*step.keys.get("headers", {}).items()} for step in self._steps]
        shared = headers[0].intersection(*headers[1:]) if len(headers) > 1 else set()
        lines = [f"# {printable(title)} by `sitebench site from-har`: check it before use."]
        if self.columns:
            lines += ["", f"# accounts.csv, beside this file, begins with {','.join(self.columns)}"]
            lines += ["[data.account]", 'file = "accounts.csv"']
            secret = [c for c in self.columns if f"{{account.{c}}}" not in self._logins]
            lines += [f"secret = {_toml(secret)}"] if secret else []
        if shared:
            lines += ["", "[headers]", *_lines(dict(sorted(shared)))]
        lines += ["", "[[operation]]", 'name = "visit"']
        for step in self._steps:
            if step.pause_s:
                lines += ["", "[[operation.step]]", f'think = "{step.pause_s:.1f}s"']
            extra = {*step.keys.pop("headers", {}).items()} - shared
            keys = step.keys | ({"headers": dict(sorted(extra))} if extra else {})
            lines += ["", "[[operation.step]]", *_lines(keys)]
            lines += [f"capture.{name} = {_toml(source)}" for name, source in step.captures.items()]
        return "\n".join(lines) + "\n"


def _unique_name(values: dict[str, str], stem: str, value: str) -> str:
    tries = (stem if n == 1 else f"{stem}_{n}" for n in count(1))
    return next(name for name in tries if values.setdefault(name, value) == value)


def _is_value(text: str) -> bool:
    """Return whether a text is too long to be in a page by chance, and is no word."""
    is_word = len(text) < 2 * _LEAST and not re.search(r"\d", text)
    return len(text) >= _LEAST and not is_word and re.fullmatch("[!-~]+", text) is not None


def _random_places(text: str) -> Iterator[str]:
    """Yield the numbers of lines with random texts, and the begins of these texts."""
    boundaries = set(re.findall(r"boundary=-*([\w-]+)", text))
    for number, line in enumerate(text.splitlines(), 1):
        for word in dict.fromkeys(_random(re.sub(r"\\+[a-z]", " ", line))):
            if word.strip("-") not in boundaries:
                yield f"{number} ({word[:4]}...)"


def _random(text: str) -> Sequence[str]:
    """Return the long texts that mix letters and digits unlike words."""

    def is_random(word: str) -> bool:
        bare = re.sub("[-_]", "", word)
        runs = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", bare)
        return len(bare) >= 12 and (len(bare) < 4 * len(runs) or bare.isdigit())

    return [word for word in re.findall(r"[A-Za-z0-9_-]{12,}", text) if is_random(word)]


def _login(names: Sequence[str]) -> str:
    index = next((n for n, name in enumerate(names) if _PASSWORD.search(name)), 0)
    return next((name for name in names[:index] if _LOGIN.search(name)), "")


def _json(text: str) -> Any:
    """Return the value of a JSON text; None if a scenario file cannot express this value."""

    def finite(number: str) -> float:
        if not math.isfinite(value := float(number)):
            raise ValueError(number)
        return value

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name twice")
        return dict(pairs)

    try:
        document = json.loads(
            text, object_pairs_hook=unique, parse_float=finite, parse_constant=finite
        )
    except (ValueError, RecursionError):
        return None
    return document if _is_shallow(document, 3 * _DEEPEST) else None


def _inner(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return [*value.values()]
    return value if isinstance(value, list) else []


def _is_shallow(value: Any, depth: int) -> bool:
    return depth > 0 and all(_is_shallow(child, depth - 1) for child in _inner(value))


def _in_toml(value: Any, depth: int = _DEEPEST) -> bool:
    is_too_large = isinstance(value, int) and abs(value) >= 2**63
    inner = all(_in_toml(child, depth - 1) for child in _inner(value)) if depth else False
    return value is not None and not is_too_large and inner


def _leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts and whole numbers of JSON with their pointers (RFC 6901)."""
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _leaves(child, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from _leaves(child, f"{pointer}/{number}")
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield pointer, str(value)


def _escape(text: str) -> str:
    """Return a literal text: braces before a name are doubled."""
    return _BEFORE_NAME.sub(lambda match: 2 * match[0], text)


def _of_url(text: str) -> str:
    return re.sub(r"[^!-~]|[#{}]", lambda match: quote(match[0], safe="", errors="replace"), text)


def _lines(keys: dict[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_toml(value)}" for name, value in keys.items()]


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(_lines(value))} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str) and value.isprintable() and '"' in value and "'" not in value:
        return f"'{value}'"
    # TOML has the escapes of JSON, except for characters that TOML or a terminal does not accept.
    return _TO_ESCAPE.sub(_as_escape, json.dumps(value, ensure_ascii=False))


def _as_escape(match: re.Match[str]) -> str:
    return "\ufffd" if "\ud800" <= match[0] <= "\udfff" else f"\\u{ord(match[0]):04x}"
