"""Claims: a claim is (workarea, claim_key); each version is its own immutable artifact (design: admission)."""
