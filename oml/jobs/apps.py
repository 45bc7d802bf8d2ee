from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "oml.jobs"
    label = "jobs"
    verbose_name = "Background work"

    def ready(self) -> None:
        from typing import Any

        from oml.http import health
        from oml.jobs import heartbeat

        def workers() -> dict[str, Any]:
            age = heartbeat.seconds_since_last()
            if age is None:
                return {"status": "none"}
            late = age > health.WORKER_LATE_SECONDS
            return {"status": "late" if late else "ok", "age_seconds": round(age, 1)}

        health.register("workers", workers)
