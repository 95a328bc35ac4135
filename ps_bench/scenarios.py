"""The paper's scenario (Table 12, page 12), and each of its requests alone."""

from __future__ import annotations

from dataclasses import replace

from sitebench.http.scenario import FORM, Capture, Expect, Identity, Operation, Request, Scenario

PAGE_BYTES, _IMAGE_BYTES, _IMAGES_PER_PAGE = 8_290, 5_480, 4
"""A page, an image, and images on a page (Table 12)."""

_SHARES = {"create": 5, "page": 91, "page-and-update": 4}
"""Of a hundred operations (Table 12)."""

_COOKIE = (("Cookie", "user={id}"),)

_CREATE = Request(
    "create",
    "/users",
    "POST",
    does="create",
    body="given={given}&family={family}&city={city}",
    content_type=FORM,
    match="plain",
    expect=Expect((201,), contains=("user ",)),
    capture=Capture(cookie="user"),
)
_PAGE = Request(
    "page",
    headers=_COOKIE,
    expect=Expect(
        (200,),
        PAGE_BYTES,
        ("<h1>Hello, {given}</h1>",),
        Identity('<body data-user="', "{id}", '"'),
    ),
)
_IMAGES = tuple(
    Request(
        "image",
        f"/image/{n}.gif",
        person="current",
        match="plain",
        expect=Expect((200,), _IMAGE_BYTES),
    )
    for n in range(1, _IMAGES_PER_PAGE + 1)
)
_UPDATE = Request(
    "update",
    "/preferences",
    "POST",
    does="update",
    headers=_COOKIE,
    body="background={draw.colour}&accent={draw.accent}",
    content_type=FORM,
    match="plain",
    expect=Expect((204,)),
)
_UPDATED_PAGE = replace(
    _PAGE,
    name="updated-page",
    person="current",
    expect=replace(
        _PAGE.expect,
        fresh=('data-background="{draw.colour}"', 'data-accent="{draw.accent}"'),
    ),
)

PAPER = Scenario(
    "scenario",
    (
        Operation("create", _SHARES["create"], (_CREATE,)),
        Operation("page", _SHARES["page"], (_PAGE, *_IMAGES), page=True),
        # The update comes first, so that the page of the same operation has to show it.
        Operation(
            "page-and-update",
            _SHARES["page-and-update"],
            (_UPDATE, _UPDATED_PAGE, *_IMAGES),
            counts="updated-page",
            page=True,
        ),
    ),
)
PAGE = Scenario("page", (Operation("page", 1, (_PAGE,), page=True),))
CREATE = Scenario("create", (Operation("create", 1, (_CREATE,)),))
UPDATE = Scenario("update", (Operation("update", 1, (_UPDATE,)),))
IMAGE = Scenario("image", (Operation("image", 1, (_IMAGES[0],)),))

SCENARIOS = {"scenario": PAPER, "page": PAGE, "create": CREATE, "update": UPDATE, "image": IMAGE}
"""Operations by name, and what users do unless there is a scenario file."""
