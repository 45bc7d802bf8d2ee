"""Memory in the admin console: read-only, and no memory text at all (R3)."""

from memory.admin import claims, edges, recall, records, runs, tasks, tiles

__all__ = ["claims", "edges", "recall", "records", "runs", "tasks", "tiles"]
