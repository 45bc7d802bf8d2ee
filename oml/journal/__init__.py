"""The journal: one append-only hash chain per tenant (D1)."""
