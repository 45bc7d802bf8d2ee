"""The embedded default: what `make run` and `make test` need on a machine that has only Python.

Its own Postgres, a guarded broker install, a supervisor, and the printed welcome. Nothing here may
be imported by the product's rooms, and nothing here runs in production.
"""
