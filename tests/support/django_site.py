"""Django's admin without changes, as a program: `django_site.py PORT`, in an empty folder.

The folder has its database and `requests.log`, with status and request of each answer.
"""

from __future__ import annotations

import sys
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import django
from django.conf import settings
from django.contrib import admin
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.urls import path

USER, PASSWORD = "ann", "of-ann-4711"
_CONTRIB = ("auth", "contenttypes", "sessions", "messages", "admin", "staticfiles")
_MIDDLEWARE = (
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
)
_CONTEXT = ("template.context_processors.request", "contrib.auth.context_processors.auth",
            "contrib.messages.context_processors.messages")  # fmt: skip
_TEMPLATES = {
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": [f"django.{name}" for name in _CONTEXT]},
}
urlpatterns: list[object] = []


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_request(self, code: object = "-", size: object = "-") -> None:
        with Path("requests.log").open("a") as log:
            log.write(f"{code} {self.command} {self.path}\n")


def main() -> None:
    """Serve until the process is ended."""
    settings.configure(
        SECRET_KEY="of-a-test",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        INSTALLED_APPS=[f"django.contrib.{name}" for name in _CONTRIB],
        MIDDLEWARE=_MIDDLEWARE,
        TEMPLATES=[_TEMPLATES],
        STATIC_URL="/static/",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "site.sqlite"}},
        # The default hasher takes a third of a second of CPU for each login.
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    )
    django.setup()
    urlpatterns.append(path("admin/", admin.site.urls))
    call_command("migrate", verbosity=0)
    from django.contrib.auth.models import User

    User.objects.create_superuser(USER, password=PASSWORD)
    with _Server(("127.0.0.1", int(sys.argv[1])), _Handler) as server:
        server.set_app(get_wsgi_application())
        server.serve_forever()


if __name__ == "__main__":
    main()
