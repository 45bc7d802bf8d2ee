"""Who and where in the admin console: read-only lists, the gate, keys issued and revoked, access explained."""

from django.contrib import admin
from django.contrib.auth.models import Group

from workareas.admin import explain, fences, gate, keys, nodes, people, tiles

__all__ = ["explain", "fences", "gate", "keys", "nodes", "people", "tiles"]

# Django's own page for groups would change them outside the journal, and a group belongs to no tenant.
admin.site.unregister(Group)
