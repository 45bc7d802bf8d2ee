"""Source records: what agents keep exactly as they sent it, private to the principal who sent it."""
