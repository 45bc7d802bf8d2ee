"""Deployment secrets and what is made with them: signatures and keyed digests.

Sits right above ``oml.core``: no Django, no database, no settings module; only files and the environment.
What must never happen here: a secret in an exception, a log line or a repr, and a key made up because one
was missing.
"""
