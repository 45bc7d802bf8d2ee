"""Humans who sign in: a browser that is somebody, and what its pages say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import Any

from django.test import Client

from oml.core.actor import Actor, Channel, Role
from tests.support.world import World
from workareas.actions.keys import GrantSpec, add_grant, enrol_human
from workareas.authentication import actor_of_key
from workareas.verbs import Capability

PASSWORD = "correct horse battery staple"  # a test's own, for a throw-away database

_ROLES = {
    "reviewer": (Role.DREAMER, [Capability.READER, Capability.REVIEW]),
    "admin": (Role.ADMIN, [Capability.READER, Capability.ADMIN]),
    "reader": (Role.READER, [Capability.READER]),
}


@dataclass
class Human:
    """Somebody signed in; ``human.actor`` is whom their acts are recorded under."""

    username: str
    actor: Actor
    client: Client

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(path, query)

    def post(self, path: str, **fields: Any) -> Any:
        return self.client.post(path, fields)

    def opens(self, artifact: str) -> Any:
        """Open an item and follow to the page it leads to."""
        answer = self.post(f"/review/items/{artifact}")
        assert answer.status_code == 303, (answer.status_code, said(answer))
        return self.get(answer.headers["Location"])


def human(
    world: World, kind: str = "reviewer", *, name: str, on: str | None = "universe", staff: bool = False
) -> Human:
    """Enrol a human of a kind, granted on a node (nowhere, when ``on`` is None), and sign them in."""
    role, capabilities = _ROLES[kind]
    key = enrol_human(world.admin, username=name, name=name.title(), password=PASSWORD, role=role, staff=staff)
    for capability in capabilities if on is not None else []:
        add_grant(world.admin, key=key.pk, spec=GrantSpec(world.nodes[str(on)].pk, capability))
    client = Client()
    assert client.login(username=name, password=PASSWORD)
    return Human(name, actor_of_key(key.pk, channel=Channel.CONSOLE), client)


def said(response: Any) -> str:
    """A page's words: no tags, spaces folded."""
    body = response.content.decode()
    body = re.sub(r"<(script|style|head)\b.*?</\1>", " ", body, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def hidden(response: Any, name: str) -> str:
    """The value of a hidden field of a page's first form that has it."""
    found = re.search(rf'name="{name}" value="([^"]*)"', response.content.decode())
    assert found, f"no hidden field {name}"
    return unescape(found[1])
