"""A small site behind a login: a CSRF token in a cookie and in the form, then a session.

Its accounts come from a CSV file with the columns number, password and name.
"""

from __future__ import annotations

import argparse
import csv
import secrets
from pathlib import Path

from flask import Flask, Response, abort, request

FORM = """\
<!doctype html><form method="post"><input name="user"><input name="password" type="password">
<input type="hidden" name="token" value="{token}"></form>
"""
PAGE = '<!doctype html><body data-user="{number}"><h1>Hello, {name}</h1></body>\n'


def make_app(accounts: Path) -> Flask:
    """Return the site with the accounts of a file."""
    app = Flask(__name__)
    with accounts.open(newline="", encoding="utf-8") as file:
        accounts_by_number = {row["number"]: row for row in csv.DictReader(file)}
    sessions: dict[str, str] = {}

    @app.get("/login")
    def form() -> Response:
        token = secrets.token_urlsafe(16)
        response = Response(FORM.format(token=token))
        response.set_cookie("token", token, samesite="Strict")
        return response

    @app.post("/login")
    def login() -> Response:
        if not secrets.compare_digest(request.cookies.get("token", ""), request.form["token"]):
            abort(403)
        account = accounts_by_number.get(request.form["user"])
        if account is None or account["password"] != request.form["password"]:
            abort(401)
        session = secrets.token_urlsafe(16)
        sessions[session] = account["number"]
        response = Response(status=303, headers={"Location": "/"})
        response.set_cookie("session", session, httponly=True)
        return response

    @app.get("/")
    def page() -> Response:
        number = sessions.get(request.cookies.get("session", ""))
        if number is None:
            return Response(status=302, headers={"Location": "/login"})
        return Response(PAGE.format(number=number, name=accounts_by_number[number]["name"]))

    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=Path, required=True)
    parser.add_argument("--port", type=int, default=5000)
    arguments = parser.parse_args()
    make_app(arguments.accounts).run("127.0.0.1", arguments.port, threaded=True)
