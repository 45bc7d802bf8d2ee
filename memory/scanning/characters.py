"""Classes of characters, as the insides of regular-expression brackets, and where an odd one is at home.

Ranges instead of a Unicode database: Python's own knows neither emoji nor joining scripts, and a class that
is written down does not change its answers when Python is updated. Sources: Unicode 17 Blocks, emoji-data,
StandardizedVariants and UTS 51; UTS 39 for look-alikes (``lookalikes.py``).
"""

from __future__ import annotations

import re

# --- what cannot be seen
# -------------------------------------------------------------------------------------

TAG = r"\U000E0000-\U000E007F"
SELECTOR = r"\uFE00-\uFE0F\U000E0100-\U000E01EF\u180B-\u180D\u180F"
JOINER = r"\u200C\u200D"
ZERO_WIDTH = (
    JOINER + r"\u200B\u2060-\u2065\uFEFF"  # space, word joiner, invisible operators, byte-order mark
    r"\u034F\u115F\u1160\u17B4\u17B5\u180E\u3164\uFFA0"  # fillers that show nothing
    r"\u206A-\u206F\uFFF9-\uFFFB\U0001D173-\U0001D17A"  # deprecated and annotation format characters
    r"\U000E0080-\U000E00FF\U000E01F0-\U000E0FFF"  # unassigned and ignored by every renderer
)
SOFT_HYPHEN = r"\u00AD"
BIDI_OVERRIDE = r"\u202D\u202E"
BIDI_CONTROL = r"\u202A-\u202C\u2066-\u2069"
BIDI_MARK = r"\u200E\u200F\u061C"
INVISIBLE = TAG + SELECTOR + ZERO_WIDTH + SOFT_HYPHEN + BIDI_OVERRIDE + BIDI_CONTROL + BIDI_MARK

PRIVATE_USE = r"\uE000-\uF8FF\U000F0000-\U000FFFFD\U00100000-\U0010FFFD"
# All but tab, line feed, form feed, carriage return and NEL; with noncharacters and stray surrogates.
CONTROL = r"\x00-\x08\x0B\x0E-\x1F\x7F-\x84\x86-\x9F\uD800-\uDFFF\uFDD0-\uFDEF\uFFFE\uFFFF"

# --- where the odd ones are at home
# --------------------------------------------------------------------------

EMOJI = (
    r"\u00A9\u00AE\u203C\u2049\u2122\u2139\u2190-\u21FF\u2300-\u23FF\u24C2\u25A0-\u27BF\u2900-\u297F"
    r"\u2B00-\u2BFF\u3030\u303D\u3297\u3299\U0001F000-\U0001FAFF"
)
IDEOGRAPH = r"\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFD"
CJK = IDEOGRAPH + r"\u3040-\u30FF\u31F0-\u31FF\uAC00-\uD7A3\u1100-\u11FF\u3100-\u312F\uFF66-\uFF9D"
# Scripts whose spelling uses joiners: Arabic and its neighbours, Mongolian, the Indic and South-East Asian
# ones.
JOINING = (
    r"\u0600-\u061B\u061D-\u074F\u0750-\u077F\u07C0-\u07FF\u0840-\u085F\u0860-\u08FF\uFB50-\uFDCF\uFE70-\uFEFC"
    r"\u1820-\u18AA\u0900-\u0DFF\u0F00-\u109F\u1780-\u17B3\u17B6-\u17FF\u1B00-\u1B7F\uA980-\uA9DF\uAA60-\uAA7F"
)
# Scripts without spaces between words, where a zero-width space marks where a line may break.
SPACELESS = r"\u0E00-\u0EFF\u1000-\u109F\u1780-\u17B3\u17B6-\u17FF\u1950-\u1AAF\uAA60-\uAA7F\uAA80-\uAADF"
RIGHT_TO_LEFT = (
    r"\u0590-\u061B\u061D-\u08FF\uFB1D-\uFDCF\uFE70-\uFEFC"
    r"\U00010800-\U00010FFF\U0001E800-\U0001EFFF"
)

_HAS_VARIANTS = r"\u2200-\u22FF\u2A00-\u2AFF\u3000-\u3002\uFF01-\uFF1F\u1000-\u109F"
_MARK = f"[{BIDI_MARK}]"
_NEAR = 11
# The first condition is what nearly every character fails, so that the rest is rarely tried.
_AT_HOME = re.compile(
    rf"(?=[{INVISIBLE}])(?:%s)"
    % "|".join(
        (
            # One selector on what has variants: emoji, ideographs, mathematics, Myanmar, Mongolian.
            rf"(?<=[{EMOJI}])[\uFE0E\uFE0F](?![{SELECTOR}])",
            r"(?<=[#*0-9])\uFE0F(?=\u20E3)",
            rf"(?<=[{IDEOGRAPH}])[\uFE00-\uFE02\U000E0100-\U000E011F](?![{SELECTOR}])",
            rf"(?<=[{_HAS_VARIANTS}])[\uFE00\uFE01](?![{SELECTOR}])",
            rf"(?<=[\u1820-\u18AA])[\u180B-\u180D\u180F](?![{SELECTOR}])",
            # Joiners: between emoji, and in scripts that spell with them.
            rf"(?<=[{EMOJI}\uFE0F])\u200D(?=[{EMOJI}])",
            rf"(?<=[{JOINING}])[{JOINER}](?![{INVISIBLE}A-Za-z])",
            rf"(?<=[{SPACELESS}])\u200B(?=[{SPACELESS}])",
            # A directional mark within a word's length of right-to-left writing, and not two at once.
            rf"(?<!{_MARK}){_MARK}(?!{_MARK})(?=.{{0,{_NEAR}}}[{RIGHT_TO_LEFT}])",
            *(rf"(?<=[{RIGHT_TO_LEFT}]{'.' * gap}){_MARK}(?!{_MARK})" for gap in range(_NEAR + 1)),
            r"\A\uFEFF",
        )
    )
)

# U+1F3F4 and tag letters up to the cancel tag: the flag of a region (UTS 51). Three of them are in general
# use.
_KNOWN_FLAGS = frozenset({"gbeng", "gbsct", "gbwls"})
_FLAG = re.compile(r"\U0001F3F4([\U000E0030-\U000E0039\U000E0061-\U000E007A]{3,7})\U000E007F")
_REGION = re.compile(r"(?:[a-z]{2}|[0-9]{3})[a-z0-9]{1,4}")

# Any visible letter will do: what matters is that offsets stay and that no rule matches it.
_PLACEHOLDER = "."


def untag(tags: str) -> str:
    """The ASCII text that a run of tag characters spells."""
    return "".join(chr(ord(tag) - 0xE0000) for tag in tags)


def mask_at_home(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Replace invisible characters that stand where they belong, one for one, so that offsets stay.

    Returns:
        The masked text, and the spans of well-formed region flags outside the three in general use: they are
        masked too, and their few letters could spell something, so the caller names them.
    """
    rare_flags: list[tuple[int, int]] = []

    def mask_flag(match: re.Match[str]) -> str:
        letters = untag(match[1])
        if not _REGION.fullmatch(letters):
            return match[0]
        if letters not in _KNOWN_FLAGS:
            rare_flags.append(match.span())
        return _PLACEHOLDER * len(match[0])

    masked = _AT_HOME.sub(_PLACEHOLDER, text)
    if "\U0001f3f4" in masked:
        masked = _FLAG.sub(mask_flag, masked)
    return masked, rare_flags
