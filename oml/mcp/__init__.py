"""The agents' face: MCP over streamable HTTP, stateless, as a facade over the same functions as ``/v1``.

Nothing exists here that the HTTP API does not also offer. What must never happen in this package: a verb that
promotes, signs, demotes, deletes or administers (R1: absent, not refused), a session, a stream, a decision of
its own, or a tool that reaches the domain by another door than ``memory.api.operations``.
"""
