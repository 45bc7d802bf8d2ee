"""OML, the organisational memory layer. The version stands here because the faces announce it."""

__version__ = "0.1.0"
