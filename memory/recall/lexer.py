"""Text to terms: the one place that decides what the lexical arm of recall can find (design: retrieval).

Postgres' own parser drops ``++`` from ``C++``, breaks ``GB/s`` and cannot segment Chinese, so the words are made
here and reach the database finished. The same text always gives the same terms, in every process and for ever:
stored rows are compared with tomorrow's queries. What must never happen here: a query syntax. Every character a
caller sends is text, so ``foo(bar"`` and ``%_\\`` are words or nothing, never an error.

Terms are, in the order of the text:

* stems by Snowball under the language of the text (found by script, then by its stop words), stop words dropped;
* code tokens kept whole *and* in parts: ``C++``, ``GB/s``, ``AM-7741``, ``node.js``, ``snake_case``, ``getUserName``;
* dates in one form whichever way they were written: ``8 May 2023``, ``May 8th, 2023`` and ``2023-05-08`` meet;
* character bigrams for scripts written without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer

from memory.recall.irregular import BASE_FORM
from memory.recall.stopwords import CONTRACTIONS, STOPWORDS

#: Raised whenever the same text would give other terms: rows built under another version are rebuilt.
LEXER_VERSION = 1
#: A longer token is noise (base64, minified code); its head still finds it.
MAX_TERM = 64

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
#: Letters, digits and the marks that stand on them; ``\w`` lacks combining marks and has the underscore.
_WORD = (
    r"(?:[^\W_]|[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f])+"
)
_COMPOUND = re.compile(rf"{_WORD}(?:(?:['’\-_./:@&+#\\]|::|->|\.\.){_WORD})*(?:[+#]{{1,3}}(?!\w))?")
_PARTS = re.compile(_WORD)
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ0-9])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]+")
_APOSTROPHE = re.compile("['’]")
_NAMES = "january february march april may june july august september october november december"
_MONTHS = _NAMES.split()
_MONTH_NUMBER = {name: number for number, name in enumerate(_MONTHS, 1)}
_MONTH_NUMBER |= {name[:3]: number for name, number in _MONTH_NUMBER.items()} | {"sept": 9}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True)) + r")\.?"
_DATES = (
    re.compile(r"\b(?P<year>\d{4})-(?P<number>\d{2})(?:-(?P<day>\d{2}))?(?![\d-])"),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},? (?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b{_MONTH},? (?:of )?(?P<year>\d{{4}})\b", re.IGNORECASE),
)
_SCRIPT_LANGUAGES = (
    (re.compile("[\u0400-\u052f]"), "russian"),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "greek"),
    (re.compile("[\u0600-\u06ff\u0750-\u077f]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0530-\u058f]"), "armenian"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
)
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LATIN_LANGUAGES = tuple(language for language in STOPWORDS if language != "russian")


def document_terms(text: str) -> list[str]:
    """Terms of a text that is stored, with repeats, in order.

    Args:
        text: any text, markup and code included.

    Returns:
        The terms; empty for a text of nothing but punctuation or stop words.
    """
    return [term for terms in _units(text, query=False) for term in terms]


def query_terms(text: str) -> list[str]:
    """Distinct terms of a query, in the order of their first use.

    A query is often too short to show its language. Where it does not, every word counts both as its English
    stem and as it stands, which is how texts in other languages keep their words beside the stem.
    """
    return list(dict.fromkeys(term for terms in _units(text, query=True) for term in terms))


def language_of(text: str) -> str | None:
    """The Latin-script language of a text by its stop words, or None where they do not tell.

    At least two stop words must speak for a language, and more than for any other.
    """
    words = [word.casefold() for word in _PARTS.findall(text[:4096])]
    score = {name: sum(word in STOPWORDS[name] for word in words) for name in _LATIN_LANGUAGES}
    best, second = sorted(score.values(), reverse=True)[:2]
    if best < 2 or best == second:
        return None
    return next(name for name, hits in score.items() if hits == best)


def _units(text: str, *, query: bool) -> Iterator[list[str]]:
    text = unicodedata.normalize("NFKC", text)
    detected = language_of(text)
    yield from _dates(text)
    for match in _COMPOUND.finditer(text):
        yield _token(match.group(), detected, query=query)


def _dates(text: str) -> Iterator[list[str]]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            found = match.groupdict()
            number = int(found.get("number") or _MONTH_NUMBER[found["month"].casefold()])
            day = int(found.get("day") or 0)
            if not 1 <= number <= 12 or day > 31:
                continue
            month = f"{found['year']}-{number:02}"
            # The month's name is a term of the ISO form only: written out, the word itself is one already.
            named = [_stem("english", _MONTHS[number - 1])] if found.get("number") else []
            yield [month, *([f"{month}-{day:02}"] if day else []), *named]


def _token(token: str, detected: str | None, *, query: bool) -> list[str]:
    folded = token.casefold()
    if any(pattern.fullmatch(token) for pattern in _DATES):
        return [folded[:4]]  # the date was read as one; of its parts only the year says anything
    if _UNSPACED_RUN.search(token):
        return [term for part in _script_runs(token) for term in part_terms(part, detected, query=query)]
    if folded in CONTRACTIONS or folded.replace("’", "'") in CONTRACTIONS:
        return []
    parts = _PARTS.findall(token)
    terms: list[str] = []
    if _is_code(token, parts):
        terms.append(folded[:MAX_TERM])
    if len(parts) == 1 and terms and not _CAMEL.search(token):
        return terms  # C++, C#: the part alone would be the letter C
    for part in _APOSTROPHE.split(token) if len(parts) == 1 else parts:
        pieces = _CAMEL.split(part) if _CAMEL.search(part) else [part]
        if len(pieces) > 1 and part.casefold() not in terms:
            terms.append(part.casefold()[:MAX_TERM])
        for piece in pieces:
            terms.extend(term for term in part_terms(piece, detected, query=query) if term not in terms)
    return terms


def _is_code(token: str, parts: list[str]) -> bool:
    """Whether a token is more than its words: it ends in + or #, or joins parts otherwise than prose does."""
    if token[-1] in "+#":
        return True
    if len(parts) < 2:
        return False
    return any(sign in token for sign in "_./:@&+#\\") or any(character.isdigit() for character in token)


def _script_runs(token: str) -> Iterator[str]:
    position = 0
    for match in _UNSPACED_RUN.finditer(token):
        if match.start() > position:
            yield from _PARTS.findall(token[position : match.start()])
        yield match.group()
        position = match.end()
    if position < len(token):
        yield from _PARTS.findall(token[position:])


def part_terms(part: str, detected: str | None, *, query: bool) -> list[str]:
    """Terms of one word or one run of unspaced script."""
    if _UNSPACED_RUN.fullmatch(part):
        pairs = [part[at : at + 2] for at in range(len(part) - 1)]
        # A query of one character must find texts that hold it, so texts keep the single characters too.
        return (pairs or [part]) if query else [*pairs, *part]
    folded = part.casefold()
    if len(folded) > MAX_TERM:
        return [folded[:MAX_TERM]]
    if not _LATIN.search(folded):
        language = next((name for pattern, name in _SCRIPT_LANGUAGES if pattern.search(folded)), None)
        if language is None:
            return [folded]
        return [] if folded in STOPWORDS.get(language, ()) else [_stem(language, folded)]
    if folded in STOPWORDS[detected or "english"]:
        return []
    if detected in (None, "english"):
        folded = BASE_FORM.get(folded, folded)
    stem = _stem(detected or "english", folded)
    plain = _plain(folded)
    # Beside a stem of another language the word itself is kept; an undecided query asks for both.
    both = query if detected is None else detected != "english"
    return [stem, plain] if both and plain != stem else [stem]


@lru_cache(maxsize=65536)
def _stem(language: str, word: str) -> str:
    return _plain(snowballstemmer.stemmer(language).stemWord(word)) or word


def _plain(word: str) -> str:
    """The word without accents where its script is Latin or Greek; elsewhere marks are letters' own."""
    if word.isascii() or not (_LATIN.search(word) or re.search("[\u0370-\u03ff\u1f00-\u1fff]", word)):
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c)) or word
