"""Agent state: what an agent keeps across its runs, and who can read it (seed: agent-memory; design: agent-state).

Three kinds in one store, written by an agent's run and by nothing else: pinned slots, the checkpoint, archive notes.
What must never happen here: private state of one identity before another's eyes, private state that becomes shared,
shared state that others' runs read before somebody who did not write it ratified it (R3).
"""
