"""A real headless Chromium against the live server: what only a browser can say."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.support.people import PASSWORD
from tests.support.world import World
from workareas.actions.keys import GrantSpec, add_grant, enrol_human
from workareas.models import Key
from workareas.verbs import CEILING, Capability, Role

Visit = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser."""
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The machine's Chromium; none is ever downloaded."""
    program = os.environ.get("OML_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine; install one or name it in OML_CHROMIUM")
    # Playwright's synchronous face keeps an event loop in this thread, which Django takes for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=options)
        yield browser
        browser.close()


@pytest.fixture
def world(transactional_db: None) -> World:
    """The usual tenant, committed, so that the server's thread sees it."""
    return World.build("acme")


@pytest.fixture
def visit(chromium: Browser, live_server: Any) -> Iterator[Visit]:
    """``visit("rita")`` signs somebody in and returns their page; whatever the console complains of fails the test."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(username: str | None = None, *, width: int = 1280, **options: Any) -> Page:
        context = chromium.new_context(base_url=live_server.url, viewport={"width": width, "height": 800}, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: _note(complaints, message))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if username is not None:
            page.goto("/accounts/login/")
            page.get_by_label("Name").fill(username)
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(re.compile("/(review|admin|agents)/$"))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints, complaints


def _note(complaints: list[str], message: ConsoleMessage) -> None:
    # A page that is a refusal answers with its own status, which the console reports as a failed load.
    if message.type == "error" and "the server responded with a status of 4" not in message.text:
        complaints.append(message.text)


def enrol(world: World, username: str, role: Role = Role.DREAMER, *, staff: bool = False) -> Key:
    """A human with every capability of their role on the root."""
    key = enrol_human(world.admin, username=username, name=username.title(), password=PASSWORD, role=role, staff=staff)
    for capability in sorted(CEILING[role] - {Capability.PROPOSE}):
        add_grant(world.admin, key=key.pk, spec=GrantSpec("universe", capability))
    return key


@pytest.fixture
def rita(world: World) -> Key:
    """A reviewer of the whole tree."""
    return enrol(world, "rita")


@pytest.fixture
def ada(world: World) -> Key:
    """A staff administrator of the whole tree."""
    return enrol(world, "ada", Role.ADMIN, staff=True)
