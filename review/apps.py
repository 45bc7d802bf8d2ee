from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "review"
    verbose_name = "Review"

    def ready(self) -> None:
        from review import errors, events, words  # noqa: F401  (registration)
        from review.actions import self_sign  # noqa: F401  (its door)
        from review.evidence import events as evidence_events  # noqa: F401
