"""``make demo``: the main job told as a story, by agents and a reviewer who know nothing but the public
faces.

It speaks MCP through the official client and HTTP to ``/v1``, with the keys of ``demo.json``. What must never
happen here: an import of a room of the house, a step that is printed as done and was not checked, an exit
code of 0 after a broken promise."""
