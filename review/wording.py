"""How the review pages put things: ages, outcomes, findings, why a row is where it is. Pure.

Words only: whether somebody may do something was decided long before a sentence is looked up here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))

OUTCOMES: dict[str, tuple[str, str]] = {
    "clean": ("Clean", "looked and found nothing"),
    "flagged": ("Flagged", "found something for you to look at"),
    "blocked": ("Blocked", "found something that is never admitted"),
    "failed": ("Failed", "did not finish; nothing is known"),
    "not_run": ("Not run", "did not look; nothing is known"),
    "pending": ("Scanning", "still to answer"),
}

KINDS = {"memory": "memory", "derived_fact": "derived fact", "steering": "steering"}

CHANNELS = {
    "claim": "readers of the workarea",
    "agent_note": "an agent’s runs, as a note",
    "agent_slot": "an agent’s runs, as a pinned slot",
}

STATES = {
    "held": "Held",
    "promoted": "Promoted",
    "demoted": "Demoted",
    "rejected": "Rejected",
    "erased": "Erased",
    "pending": "Pending",
    "ratified": "Ratified",
}

_LINKS = {"relates_to": "relates to", "derived_from": "is derived from"}

_RULES = {
    "unicode.zero_width": "characters that cannot be seen",
    "unicode.variation_selector": "invisible selectors out of place",
    "unicode.bidi_control": "controls that change the reading direction",
    "unicode.bidi_mark": "invisible direction marks out of place",
    "unicode.soft_hyphen": "soft hyphens, invisible inside words",
    "unicode.private_use": "characters that no standard gives a meaning",
    "unicode.control_character": "control characters",
    "unicode.homoglyph": "letters of another alphabet that look alike",
}


def in_words(seconds: float) -> str:
    """A duration in at most two units: ``6 days 23 hours``; ``less than a minute`` below one."""
    left = int(abs(seconds))
    parts: list[str] = []
    for name, size in _UNITS:
        count, rest = divmod(left, size)
        if count:
            parts.append(f"{count} {name}{'s' if count != 1 else ''}")
            left = rest
            if len(parts) == 2:
                break
        elif parts:
            break
    return " ".join(parts) or "less than a minute"


def ago(moment: datetime, now: datetime) -> str:
    """``3 hours ago``; ``just now`` below a minute and for what a clock ahead of ours wrote."""
    seconds = (now - moment).total_seconds()
    return "just now" if seconds < 60 else f"{in_words(seconds)} ago"


def left(moment: datetime, now: datetime) -> str:
    """``3 hours left``, or ``time is over``."""
    seconds = (moment - now).total_seconds()
    return f"{in_words(seconds)} left" if seconds > 0 else "time is over"


def exact(moment: datetime) -> str:
    """``27 October 2026, 14:11:08 UTC``."""
    return f"{moment.day} {moment:%B %Y, %H:%M:%S} UTC"


def rule_in_words(rule: str) -> str:
    """What a scanner's rule found."""
    return _RULES.get(rule) or rule.partition(".")[2].replace("_", " ")


def item_title(item: Mapping[str, Any]) -> str:
    """What an item is called: its claim key, or what it is to which agent."""
    about = item["agent_state"]
    if about is None:
        return str(item["claim_key"])
    if about["key"] is None:
        return f"Note of {about['agent']}"
    return f"Slot {about['key']} of {about['agent']}"


def item_kind(item: Mapping[str, Any]) -> str:
    """``derived fact``; ``shared agent state`` for what is no claim."""
    if item["agent_state"] is not None:
        return "shared agent state"
    return KINDS.get(str(item["kind"]), str(item["kind"]))


def audience(item: Mapping[str, Any]) -> str:
    """Who would meet a promoted write of an agent, and how, as the end of a sentence; empty for a claim."""
    about = item["agent_state"]
    if about is None:
        return ""
    who = f"every actor of agent {about['agent']} in {item['workarea_path']}"
    if about["key"] is None:
        return f"{who} will find this when it searches its notes"
    place = "its checkpoint" if about["key"] == "checkpoint" else f"pinned slot {about['key']}"
    return f"{who} will see this in its prompt, as {place}"


def why_here(item: Mapping[str, Any]) -> str:
    """Why a queue row is in this half: what it waits for, or the rule that keeps this reviewer out."""
    blocked = item["blocked_by"]
    if blocked is not None:
        return _why_not(item, blocked)
    if item["ratified"]:
        return f"{item['ratified']} of {item['required']} ratifications given; yours would count"
    if item["scan"] == "flagged":
        return "A scanner flagged it; nobody has decided yet"
    if item["agent_state"] is not None:
        return f"New; nobody has decided yet. Once ratified, {audience(item)}"
    if item["version"] > 1:
        return f"A new version of a promoted claim; nobody has decided on version {item['version']} yet"
    return "New; nobody has decided yet"


def _why_not(item: Mapping[str, Any], blocked: Mapping[str, Any]) -> str:
    match blocked["code"]:
        case "review.author":
            return "You wrote it, R2: another reviewer decides"
        case "review.lineage_author":
            return "You wrote one of its sources, R2: another reviewer decides"
        case "review.scan_pending" if item["scan"] == "failed":
            return "A scanner failed and is tried again; nobody may judge it before every scanner has answered"
        case "review.scan_pending":
            return "Still being scanned; nobody may judge it before every scanner has answered"
    return str(blocked["message"]).capitalize()


def link_words(label: str) -> str:
    """An edge's label as the verb between its two ends; a tenant's own label reads as it is written."""
    return _LINKS.get(label) or label.replace("_", " ")


def edge_title(edge: Mapping[str, Any]) -> str:
    """``tin-days supports tin-price``."""
    return f"{end_name(edge['from'])} {link_words(str(edge['label']))} {end_name(edge['to'])}"


def end_name(end: Mapping[str, Any]) -> str:
    """What an end is called: its claim, or its workarea's path."""
    if "claim_key" not in end:
        return str(end["workarea_path"])
    version = f", version {end['version']}" if end["version"] > 1 else ""
    return f"{end['claim_key']}{version}"


def why_edge_here(item: Mapping[str, Any]) -> str:
    """Why an edge's row is in this half."""
    blocked = item["blocked_by"]
    if blocked is None:
        return "New; nobody has decided yet"
    if blocked["code"] == "review.author":
        return "You proposed it, R2: another reviewer decides"
    return f"{str(blocked['message']).capitalize()}: there is nothing to link"


_SEEN = {
    "workarea_path": "Place",
    "workarea_status": "Status of the workarea",
    "scans": "Scans",
    "policy_version": "Version of the review policy",
    "state": "State",
}


_EDGE_SEEN = {
    "from_place": "Place of the first end",
    "to_place": "Place of the second end",
    "from_state": "State of the first end",
    "to_state": "State of the second end",
    "state": "State of the edge",
}


def seen_fields(outside: Mapping[str, Any]) -> dict[str, str]:
    """What a page was drawn from, to be compared when its form comes back."""
    return {name: str(outside[name]) for name in _titles(outside)}


def changes(seen: Mapping[str, str], outside: Mapping[str, Any]) -> list[str]:
    """What changed since a page was drawn, as sentences; empty when nothing that a reviewer sees did."""
    found = []
    for name, title in _titles(outside).items():
        before, after = seen.get(name), str(outside[name])
        if before and before != after:
            found.append(f"{title}: {before} before, {after} now")
    return found


def _titles(outside: Mapping[str, Any]) -> dict[str, str]:
    return _EDGE_SEEN if "edge_id" in outside else _SEEN
