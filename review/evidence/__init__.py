"""Evidence: what happened, taken out of the system so that it can be checked without it (design: admission)."""
