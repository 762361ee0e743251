"""Masks secrets before anything is written. Raw JSONL lines come in, the same number of bytes goes out, with `*` for secrets.

Every line that was JSON stays JSON and every byte offset stays true, because a secret is found in unwrapped text
(`unwrap`) and masked in the bytes it was made from. The content blocks of a line are looked at once more as the one text that
readers join them to (`blocks`). `find` and `count_secrets` look for what should have been masked in
text that is stored, for the check that there are no secrets.

Two steps make it fast: polars' regular expressions (Rust) run the anchors of each family over all lines at once, and only
the text around an anchor is unwrapped and looked at closely. The plugins of detect-secrets are not used: they take decoded
lines one at a time, know nothing of wrappings and byte offsets, and read 0.35 MB/s, a hundred times slower than this.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import polars as pl
import pyarrow as pa

from memory_assets.schema.tables import version_of
from memory_assets.stages.capture.blocks import HAS_BLOCKS, blocks_of
from memory_assets.stages.capture.formats.unwrap import View, decode_base64, view_of, views
from memory_assets.stages.capture.masking.secret_patterns import FAMILIES, Family, Found, base64_texts

MASKING_VERSION = version_of("resources")

MASK = b"*"
MAX_ROUNDS = 4
"""Masking one secret can lay open another; real text needs one round more than there are to find."""
MAX_WINDOW = 262_144
MAX_BASE64 = 3
"""A key in a secret of Kubernetes is base64 of base64, and somebody may have put that into a data URL."""
_OBSCURED = Family(
    "obscured",
    r"\x00|\\u00(?:00|1[bB]|[2-7][0-9a-fA-F])|\x1b\[|\\(?:033|x1[bB]|e)\[|\\/|&(?:lt|gt|quot|amp|apos|#[0-9]{2,3}|#x[0-9a-fA-F]{2});|%(?:[2-5][0-9A-Fa-f]|7[Ee])|[?&][A-Za-z_]{1,20}=[A-Za-z0-9._-]*\+",
    (),
)
"""Escaped plain characters, colours or percent codes may stand in the middle of what an anchor looks for."""
OBSCURED_REACH = 1_500
ZEROS_REACH = 8 * OBSCURED_REACH
"""The letters of UTF-16 read as ASCII stand six bytes apart, `\\u0000` between them."""
_TORN = re.compile(rb"(?:\x1b(?:\[[0-9;:?]{0,24})?|\\(?:u[0-9a-fA-F]{0,3}|[0x][0-9a-fA-F]?)?)\Z")
"""Half a colour or half an escape: neither what it stands for nor the value around it can be judged."""
_PLAIN = bytes(range(128)) + b"\x7f" * 128
_WORD = re.compile(rb"[A-Za-z0-9+/=_\\-]*")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BETWEEN_STRINGS = re.compile(rb"(?:[\s{}\[\],:]|true|false|null|NaN|-?Infinity|-?[0-9][0-9.eE+-]*)*")
_FORM = re.compile(rb"[a-z_]*")
BACKSLASH = 92
LONGEST_ESCAPE = 12
"""An escape is six bytes, a colour up to that again after it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret in a text: its kind and the characters from `start` to before `end`."""

    kind: str
    start: int
    end: int


def mask(chunk: bytes) -> tuple[bytes, int]:
    """Returns the lines with every secret replaced by as many asterisks, and how many there were."""
    return mask_all([chunk])[0]


def mask_all(chunks: Sequence[bytes]) -> list[tuple[bytes, int]]:
    """Returns `mask` of each of the chunks; many small ones together take a fraction of the time."""
    whole = b"".join(chunks)
    ends = list(accumulate(map(len, chunks), initial=0))
    bounds = sorted({*_line_bounds(whole), *ends})
    masked, counts = bytearray(), [0] * len(chunks)
    done = 0
    for row, (line, masks) in sorted(_masked_lines(whole, bounds).items()):
        masked += whole[done : bounds[row]] + line
        done = bounds[row + 1]
        counts[bisect_right(ends, bounds[row]) - 1] += masks
    masked += whole[done:]
    return [(bytes(masked[start:end]), count) for (start, end), count in zip(pairwise(ends), counts, strict=True)]


def _masked_lines(chunk: bytes, bounds: list[int]) -> dict[int, tuple[bytes, int]]:
    """Returns the lines that held secrets, masked again and again until nothing is found, with the number of masks."""
    done: dict[int, tuple[bytes, int]] = {}
    rows: list[int] = list(range(len(bounds) - 1))
    for _ in range(MAX_ROUNDS):
        changed = []
        for index, found in sorted(_found_in_lines(chunk, bounds).items()):
            line = chunk[bounds[index] : bounds[index + 1]]
            spans = _inside_strings(line, [(start, end) for _, start, end in _merged(found)])
            if spans:
                row = rows[index]
                done[row] = _cover(line, spans), done.get(row, (b"", 0))[1] + len(spans)
                changed.append(row)
        if not changed:
            break
        rows, chunk = changed, b"".join(done[row][0] for row in changed)
        bounds = [0, *accumulate(len(done[row][0]) for row in changed)]
    return done


def _found_in_lines(chunk: bytes, bounds: list[int]) -> dict[int, list[Found]]:
    """Returns the secrets of each line that holds any, by its number: those in the raw line and those in its joined blocks."""
    found = dict(_scan(chunk, bounds, escaped=True))
    for index, secrets in _scan_blocks(chunk, bounds):
        found[index] = [*found.get(index, ()), *secrets]
    return found


def _scan_blocks(chunk: bytes, bounds: list[int]) -> Iterator[tuple[int, list[Found]]]:
    """Yields the number of each line whose blocks, joined, hold secrets, and these; one that spans blocks for each of them."""
    rows = _series(chunk, bounds).str.contains(HAS_BLOCKS).arg_true().to_list()
    joined = [(row, blocks) for row in rows if (blocks := blocks_of(chunk[bounds[row] : bounds[row + 1]]))]
    ends = list(accumulate((len(blocks.text) for _, blocks in joined), initial=0))
    for index, found in _scan(b"".join(blocks.text for _, blocks in joined), ends, escaped=False):
        row, blocks = joined[index]
        yield row, [(kind, *span) for kind, start, end in _merged(found) for span in blocks.spans(start, end)]


def find(text: str) -> list[Finding]:
    """Returns the secrets in decoded text, in order."""
    raw = text.encode("utf-8", "surrogatepass")
    return [
        Finding(kind, _characters(raw, start), _characters(raw, end))
        for _, found in _scan(raw, [0, len(raw)], escaped=False)
        for kind, start, end in _merged(found)
    ]


def mask_text(text: str) -> tuple[str, int]:
    """Returns decoded text with every secret replaced by as many asterisks, and how many there were."""
    count = 0
    for _ in range(MAX_ROUNDS):
        found = find(text)
        if not found:
            break
        count += len(found)
        for one in found:
            text = text[: one.start] + "*" * (one.end - one.start) + text[one.end :]
    return text, count


def count_secrets(series: pl.Series) -> int:
    """Returns how many secrets the texts of a column hold."""
    texts = series.drop_nulls().rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_string())
    if not len(texts):
        return 0
    bounds = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1].tolist()
    content = texts.buffers()[2].to_pybytes() if texts.buffers()[2] else b""
    return sum(len(_merged(found)) for _, found in _scan(content, bounds, escaped=False))


def mask_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows with every secret in a text, or in a list of texts, replaced by as many asterisks.

    For tables whose texts are put together from text that was masked in pieces: they are what the check for secrets looks at.
    """
    columns = [name for name, dtype in frame.schema.items() if dtype in (pl.String, pl.List(pl.String))]
    return frame.with_columns(_mask_column(frame[name]) for name in columns if count_secrets(_whole(frame[name])))


def _whole(column: pl.Series) -> pl.Series:
    """Returns a column of lists as the check for secrets reads it, and a column of texts as it is."""
    return column.list.join("\n") if column.dtype == pl.List(pl.String) else column


def _mask_column(column: pl.Series) -> pl.Series:
    masked = [None if text is None else mask_text(text)[0] for text in _whole(column)]
    if column.dtype == pl.List(pl.String):
        masked = [None if text is None else _cut(text, texts) for text, texts in zip(masked, column.to_list(), strict=True)]
    return pl.Series(column.name, masked, dtype=column.dtype)


def _cut(text: str, like: Sequence[str]) -> list[str]:
    """Returns a text that was joined with line breaks as the pieces it was joined from, told by their lengths."""
    ends = list(accumulate((len(piece) + 1 for piece in like), initial=0))
    return [text[start : end - 1] for start, end in pairwise(ends)]


def _line_bounds(chunk: bytes) -> list[int]:
    """Returns where the lines begin, and the end of the last one."""
    ends = (np.flatnonzero(np.frombuffer(chunk, np.uint8) == 10) + 1).tolist()
    return [0, *ends] if not chunk or (ends and ends[-1] == len(chunk)) else [0, *ends, len(chunk)]


def _series(chunk: bytes, bounds: list[int]) -> pl.Series:
    """Returns the lines as a column without copying them; other than ASCII is blanked, so that broken UTF-8 is no matter."""
    plain = chunk if chunk.isascii() else chunk.translate(_PLAIN)
    offsets = pa.py_buffer(np.asarray(bounds, np.int64))
    return pl.Series(pl.from_arrow(pa.LargeStringArray.from_buffers(len(bounds) - 1, offsets, pa.py_buffer(plain))))


def _scan(chunk: bytes, bounds: list[int], *, escaped: bool) -> Iterator[tuple[int, list[Found]]]:
    """Yields the number of each text that holds secrets, and these; what is obscured or in base64 is looked at unwrapped."""

    def text_at(row: int) -> tuple[int, View]:
        return row, view_of(chunk[bounds[row] : bounds[row + 1]])

    found: dict[int, list[Found]] = {}
    wrapped = _search(_series(chunk, bounds), text_at, (*FAMILIES, _OBSCURED), found, escaped=escaped)
    for _ in range(MAX_BASE64):
        if not wrapped:
            break
        texts = [view.text for _, view in wrapped]
        series = _series(b"".join(texts), list(accumulate(map(len, texts), initial=0)))
        wrapped = _search(series, wrapped.__getitem__, FAMILIES, found, escaped=False)
    yield from ((row, secrets) for row, secrets in sorted(found.items()) if secrets)


def _search(
    series: pl.Series,
    text_at: Callable[[int], tuple[int, View]],
    families: Sequence[Family],
    found: dict[int, list[Found]],
    *,
    escaped: bool,
) -> list[tuple[int, View]]:
    """Adds the secrets of the texts to what was found in their rows, and returns the texts that are wrapped in them."""
    wrapped: list[tuple[int, View]] = []
    for family, index, anchors in _anchored(series, families):
        row, view = text_at(index)
        if family is _OBSCURED:
            inner = _clear_views(view, anchors)
        else:
            secrets, inner = _look(view, anchors, family, escaped=escaped)
            found.setdefault(row, []).extend(secrets)
        wrapped += [(row, each) for each in inner]
    return wrapped


def _clear_views(view: View, anchors: list[tuple[int, int]]) -> Iterator[View]:
    """Yields the text around each obscured place under all of its wrappings."""
    end = 0
    for anchor_start, anchor_end in anchors:
        reach = ZEROS_REACH if view.text[anchor_start:anchor_end] in (b"\x00", b"\\u0000") else OBSCURED_REACH
        if anchor_end + reach // 2 <= end:
            continue
        start = _whole_escapes(view.text, anchor_start - reach)
        end = _end_of_word(view.text, anchor_end + reach)
        window = view.slice(start, end)
        yield from (inner for inner in views(window, with_itself=False) if inner is not window)


def _anchored(series: pl.Series, families: Sequence[Family]) -> Iterator[tuple[Family, int, list[tuple[int, int]]]]:
    """Yields each family with the number of each text that holds its anchors, and where they are."""
    texts = series.rename("text").to_frame()
    has_anchor = texts.select(pl.col("text").str.contains(family.anchor).alias(family.name) for family in families)
    for family in families:
        hits = texts.with_row_index("row").filter(has_anchor[family.name])
        yield from ((family, row, anchors) for row, anchors in _anchors(hits, family))


def _anchors(texts: pl.DataFrame, family: Family) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yields the number of each text and where in it the family's plausible anchors are."""
    if texts.is_empty():
        return
    for row, text, matches in zip(texts["row"], texts["text"], texts["text"].str.extract_all(family.anchor), strict=True):
        raw, positions, end = text.encode(), [], 0
        for match in matches:
            # No anchor looks at what lies before it, so the next place with the same text is where it matched.
            start = text.index(match, end)
            end = start + len(match)
            if family.is_plausible(raw, start, end):
                positions.append((start, end))
        if positions:
            yield row, positions


def _look(view: View, anchors: list[tuple[int, int]], family: Family, *, escaped: bool) -> tuple[list[Found], list[View]]:
    """Returns the secrets near the anchors and the base64 decoded; a window that ends inside a secret is widened."""
    secrets: list[Found] = []
    decoded: list[View] = []
    done = 0
    for anchor_start, anchor_end in anchors:
        if anchor_end <= done:
            continue
        start, size = _whole_escapes(view.text, anchor_start - family.before), family.after
        while True:
            end = min(anchor_end + size, len(view.text))
            if family.has_base64:
                end = _end_of_word(view.text, end)
            window = view.slice(start, end)
            unwrapped = list(views(window, with_itself=not escaped))
            found, cut = _look_closely(window, unwrapped, family)
            if not cut or end == len(view.text) or size > MAX_WINDOW:
                break
            size *= 4
        done = end - family.after // 2
        secrets += found
        if family.has_base64:
            decoded += _decoded(unwrapped)
    return secrets, decoded


def _look_closely(window: View, unwrapped: list[View], family: Family) -> tuple[list[Found], bool]:
    """Returns the secrets of a window given under each of its wrappings, and whether its end may cut one."""
    found, cut = [], False
    for inner in unwrapped:
        cut = cut or _TORN.search(inner.text) is not None
        for finder in family.finders:
            for kind, start, end in finder(inner.text):
                found.append((kind, *inner.span(start, end)))
                cut = cut or end == len(inner.text)
    window_end = window.span(len(window.text) - 1, len(window.text))[1] if found else 0
    return found, cut or any(end > window_end - 4 for _, _, end in found)


def _decoded(unwrapped: list[View]) -> list[View]:
    """Returns what the base64 in a window says, under each of its own wrappings, each text once."""
    decoded = (decode_base64(view, start, end) for view in unwrapped for start, end in base64_texts(view.text))
    once = {inner.text: inner for view in decoded if view for inner in views(view, with_itself=True)}
    return list(once.values())


def _end_of_word(text: bytes, position: int) -> int:
    """Returns the first place from the position on where no key or base64 goes on."""
    if position >= len(text):
        return len(text)
    word = _WORD.match(text, position, position + MAX_WINDOW)
    return word.end() if word else position


def _whole_escapes(text: bytes, position: int) -> int:
    """Returns the last place up to the position that is not inside an escape: where backslashes begin, or far from them."""
    position = max(position, 0)
    backslash = text.rfind(b"\\", max(position - LONGEST_ESCAPE, 0), position + 1)
    while backslash > 0 and text[backslash - 1] == BACKSLASH:
        backslash -= 1
    return position if backslash < 0 else backslash


def _merged(found: list[Found]) -> list[Found]:
    """Returns the findings in order, overlapping ones as one, of the kind that begins first."""
    merged: list[Found] = []
    for kind, start, end in sorted(found, key=lambda each: (each[1], -each[2], each[0])):
        if merged and start < merged[-1][2]:
            merged[-1] = merged[-1][0], merged[-1][1], max(end, merged[-1][2])
        else:
            merged.append((kind, start, end))
    return merged


def _inside_strings(line: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the parts of the spans that lie inside the strings of a JSON line; all of them when it is no JSON."""
    strings = strings_of(line)
    if strings is None:
        return [_without_newline(line, span) for span in spans]
    inside, index = [], 0
    for start, end in spans:
        while index and strings[index - 1][1] > start:
            index -= 1
        while index < len(strings) and strings[index][0] < end:
            left, right = _off_escapes(line, max(start, strings[index][0] + 1), min(end, strings[index][1] - 1))
            is_passed = start < strings[index][0] and strings[index][1] < end and _is_form(line, *strings[index])
            inside += [(left, right)] if left < right and not is_passed else []
            index += 1
    return inside


def _is_form(line: bytes, start: int, end: int) -> bool:
    """Says whether a string between two that hold a secret is the record's own: a key, or a word such as `text`."""
    return line[end : end + 8].lstrip().startswith(b":") or _FORM.fullmatch(line, start + 1, end - 1) is not None


def strings_of(line: bytes) -> list[tuple[int, int]] | None:
    """Returns where the strings of a JSON line, or of a piece of one, stand with their quotes; None when it is no JSON."""
    is_json = _BETWEEN_STRINGS.fullmatch(_STRING.sub(b"", line)) is not None
    return [match.span() for match in _STRING.finditer(line)] if is_json else None


def _off_escapes(line: bytes, left: int, right: int) -> tuple[int, int]:
    """Returns the span without halves of escapes at its ends: half an escape would leave a line that is no JSON."""
    if _is_escaped(line, right):
        right -= 1
    if _is_escaped(line, left):
        left += 1
    escape = line.rfind(b"\\u", max(left - 5, 0), left)
    if escape >= 0 and escape + 6 > left and not _is_escaped(line, escape):
        left = escape
    return left, right


def _is_escaped(line: bytes, position: int) -> bool:
    """Says whether an odd number of backslashes stands right before the position."""
    start = position
    while start and line[start - 1] == BACKSLASH:
        start -= 1
    return (position - start) % 2 == 1


def _without_newline(line: bytes, span: tuple[int, int]) -> tuple[int, int]:
    """Returns the span without the end of the line."""
    return span[0], min(span[1], len(line.rstrip(b"\r\n")))


def _cover(line: bytes, spans: list[tuple[int, int]]) -> bytes:
    """Returns the line with asterisks in the spans."""
    covered = bytearray(line)
    for start, end in spans:
        covered[start:end] = MASK * (end - start)
    return bytes(covered)


def _characters(raw: bytes, position: int) -> int:
    """Returns how many characters the bytes before the position are."""
    return len(raw[:position].decode("utf-8", "surrogatepass"))
