"""Letters that pass for Latin ones (Unicode UTS 39, confusables), and the words they are smuggled into.

A word of Latin letters with a Cyrillic one in it reads the same to a reviewer and is another word to every
search, filter and model. Whole words of another script are that script, not a trick; symbols in formulas
(``Δt``, ``μm``, ``NF-κB``, ``hν``), brand names with a Russian ending and phonetic transcriptions are
clean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Letters whose glyph is a Latin letter's, outside Greek: Cyrillic, Cherokee, Lisu, Coptic, Armenian, Canadian
# syllabics, Warang Citi, Carian, Lycian, Elbasan, Deseret, Old Italic, Tifinagh, Osage.
_CYRILLIC_TWINS = "аАЬВсСԁҽеЕԌһНіꙇӏјЈкКІӀМоОрРԛгѕЅтТѵѴѡԝԜхХуүУҮ"
_OTHER_TWINS = (
    "ᎪᏏᏴꮯᏟᏧᎠᎬᏀᏳᏂᎻꭵᎥᎫᏦᏞᎷᏢꮁᎡᏒꮪᏕᏚᎢꮩᏙꮃᎳᏔᎩᎽꮓᏃꓮꓐꓚꓒꓓꓰꓝꓖꓧꓙꓗꓲꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ"
    "ⲥⲤⲎⲔⲒⳐⲘⲚⲟⲞⲣⲢⲅⲦⲬⲨքցհոռօՕգզՏսՍաᗅᑲᖯᗷᑯᗞᗪᖴᕼᒍᒪᗰᑭᖇᑌᐯᕁᕽ"
    "𑢦𑢮𑣂𑢢𑣃𑢣𑢲𑣈𑣗𑢵𑣁𑢼𑣘𑢸𑣀𑢠𑣜𑢤𑣄𑢩𐊠𐊡𐊢𐊥𐋏𐊰𐊫𐊱𐊴𐊲𐊂𐊆𐊇𐊊𐊒𐊕𐊖𐊗𐊐𐔜𐔥𐔘𐔦𐔓𐔖𐔝𐔧"
    "𐐽𐐕𐐛𐐬𐐄𐑈𐐠𐌁𐌂𐌉𐌑𐌕𐌗ⴹⵏⵔⵕⴸⵝ𐓪𐓂𐒴𐓶𐓎"
)
# Greek is mixed with Latin in every science, so its letters count by how alike they are and where they stand.
_GREEK_TWINS = "ΑΒϹΕϜΗͿΚΙΜϺΝΟΡΤΧΥΖοϲϳ"
_GREEK_NEAR_TWINS = "αιρυν"
_LATIN_TWINS = "ɑɡɩꞔᴠᴡᴢᴏꬲ"

_LATIN = r"A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u024F\u1E00-\u1EFF"
_LETTER = r"[^\W\d_]"
_TWINS = _CYRILLIC_TWINS + _OTHER_TWINS


# Neighbouring words are one match, as a sentence respelled is one thing to look at. Every repetition that could
# give characters back is possessive: time stays linear.
def _with_neighbours(word: str) -> re.Pattern[str]:
    return re.compile(rf"{word}(?:[\W\d_]{{1,4}}+{word})*+")


_MIXED = _with_neighbours(
    rf"(?<!{_LETTER})(?:[{_LATIN}]++[{_TWINS}]|[{_TWINS}]++[{_LATIN}])"
    rf"[{_LATIN}{_TWINS}{_GREEK_TWINS}]*+(?!{_LETTER})"
)
_MIXED_GREEK = _with_neighbours(
    rf"(?<!{_LETTER})(?=[^\W\d_]{{4}})(?:[{_LATIN}]++[{_GREEK_TWINS}]|[{_GREEK_TWINS}]++[{_LATIN}])"
    rf"[{_LATIN}{_GREEK_TWINS}]*+(?!{_LETTER})"
)
_GREEK_INSIDE = re.compile(rf"(?<=[{_LATIN}][{_LATIN}])[{_GREEK_NEAR_TWINS}](?=[{_LATIN}])")
_WHOLE_WORD = _with_neighbours(rf"(?<!{_LETTER})[{_CYRILLIC_TWINS}]++(?!{_LETTER})")
_GENUINE_CYRILLIC = re.compile(rf"(?![{_CYRILLIC_TWINS}])[\u0400-\u052F]")
_BORROWED_STEMS = re.compile(r"(?:[A-Za-z]{2,}+[\u0430-\u044F]{1,3}+[\W\d_]{0,4}+)++")
_LATIN_IN_CYRILLIC = re.compile(r"(?<=[\u0400-\u052F])[aceiopxyABCEHKMOPTXY]{1,2}(?=[\u0400-\u052F])")
_LATIN_TWIN_WORD = _with_neighbours(
    rf"(?<!{_LETTER})(?=[^\W\d_]{{4}})[A-Za-z]*+[{_LATIN_TWINS}][A-Za-z{_LATIN_TWINS}]*+(?!{_LETTER})"
)
_PHONETIC = re.compile(r"[əɛɔʃʒŋʊʌæðθɹʔɾːˈˌ]")
_DOTLESS_WORD = re.compile(rf"(?<!{_LETTER})[A-Za-z]*+ı[A-Za-zı]*+(?!{_LETTER})")
_TURKIC = re.compile(r"[ğĞşŞİçÇöÖüÜâÂəƏ]")
_ANY_LATIN = re.compile(r"[A-Za-z]")
_ANY_TWIN = re.compile(f"[{_TWINS}]")
_ANY_GREEK_TWIN = re.compile(f"[{_GREEK_TWINS}{_GREEK_NEAR_TWINS}]")
_ANY_LATIN_TWIN = re.compile(f"[{_LATIN_TWINS}]")


def lookalike_words(text: str, alphabet: str) -> Iterator[tuple[int, int]]:
    """Spans of words that read as one script and are spelled with letters of another.

    Args:
        text: any text.
        alphabet: each of its characters once; what no character of it can start is not looked for.
    """
    if _ANY_LATIN.search(alphabet) is None:
        return
    if _ANY_TWIN.search(alphabet):
        yield from _foreign_letters(text, genuine_cyrillic=_GENUINE_CYRILLIC.search(alphabet) is not None)
    if _ANY_GREEK_TWIN.search(alphabet):
        yield from (match.span() for match in _MIXED_GREEK.finditer(text))
        yield from _words_around(text, _GREEK_INSIDE.finditer(text))
    if _ANY_LATIN_TWIN.search(alphabet) and not _PHONETIC.search(alphabet):
        yield from (match.span() for match in _LATIN_TWIN_WORD.finditer(text))
    if "ı" in alphabet and not _TURKIC.search(alphabet):
        # A Turkish name in another language's text is one such word; a sentence respelled has several.
        words = [match.span() for match in _DOTLESS_WORD.finditer(text)]
        if len(words) > 1:
            yield from words


def _foreign_letters(text: str, *, genuine_cyrillic: bool) -> Iterator[tuple[int, int]]:
    for match in _MIXED.finditer(text):
        # "Excelе": Russian grammar on a foreign name, in a text that is Russian elsewhere.
        if not (genuine_cyrillic and _BORROWED_STEMS.fullmatch(match[0])):
            yield match.span()
    if genuine_cyrillic:
        yield from _words_around(text, _LATIN_IN_CYRILLIC.finditer(text))
    else:
        yield from (match.span() for match in _WHOLE_WORD.finditer(text))


def _words_around(text: str, matches: Iterator[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """The words that hold the matches, each once, as far as forty letters to either side."""
    end = 0
    for match in matches:
        if match.start() < end:
            continue
        start, end = match.span()
        while start > 0 and match.start() - start < 40 and text[start - 1].isalpha():
            start -= 1
        while end < len(text) and end - match.end() < 40 and text[end].isalpha():
            end += 1
        yield start, end
