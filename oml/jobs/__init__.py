"""Background work that survives: an outbox in Postgres, Celery as the engine that drains it."""
