"""Fields that several console forms share."""

from __future__ import annotations

import re
from typing import Any

from django import forms

_LONGEST_REASON = 4000


def reason_field(*, required: bool = False) -> forms.CharField:
    """Why, in words: kept beside the journal, which holds a commitment to them."""
    return forms.CharField(
        required=required,
        max_length=_LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Reason",
        help_text="In your words; kept beside the journal, which holds only a commitment to them.",
    )


class KeyIds(forms.CharField):
    """Ids of keys, one a line or parted by commas or spaces; each once, in the order given."""

    def __init__(self, **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 4})
        super().__init__(max_length=20_000, widget=widget, required=False, **options)

    def clean(self, value: Any) -> Any:
        given = re.split(r"[\s,]+", super().clean(value))
        return list(dict.fromkeys(one for one in given if one))
