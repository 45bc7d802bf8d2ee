"""The human gate: queue, serve ceremony, verdicts (D14)."""
