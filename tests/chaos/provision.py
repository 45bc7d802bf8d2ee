"""Makes tenants on an installation through the product's own functions and prints their secrets as JSON."""

from __future__ import annotations

import json
import sys

import django


def main(slugs: list[str]) -> None:
    django.setup()
    from tests.support.world import World

    tenants = []
    for slug in slugs:
        world = World.build(slug)
        names = ("reader", "writer", "writer2", "reviewer")
        tenants.append(
            {
                "slug": slug,
                "id": world.admin.tenant_id,
                "nodes": {path: node.pk for path, node in world.nodes.items()},
                "keys": {name: world.secret[getattr(world, name)] for name in names},
            }
        )
    sys.stdout.write(json.dumps(tenants))


if __name__ == "__main__":
    main(sys.argv[1:])
