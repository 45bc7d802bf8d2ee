"""What the environment says, validated before anything is loaded: read by the settings and by `make run`.

Apart from ``oml.settings``, because importing anything from that package loads Django's settings, and these
need secrets and a home; `make stop` must work without either.
"""
