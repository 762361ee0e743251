"""Replaces secrets by asterisks before anything is written. Takes and returns raw lines of JSON.

Every line stays JSON and keeps its length, so that byte offsets stay true: secrets are found in
unwrapped text (`unwrap`), and masked in the bytes that this text was made from. A text with
invisible characters is searched twice, with them and without them. The content blocks of a line are
also searched as the one text that readers make of them (`blocks`). `find` and `count_secrets` look
for unmasked secrets in stored text, for the check that there are none.

Two steps make it fast. First, polars' regular expressions (Rust) look for the anchors of each
family in all lines at once. Then only the text around an anchor is unwrapped and checked. The
plugins of detect-secrets are not used: they take decoded lines one at a time, know no wrappings or
byte offsets, and read 0.35 MB/s, a hundred times slower than this.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from secrets import randbits

import numpy as np
import polars as pl
import pyarrow as pa

from memory_assets.text.masking.blocks import HAS_BLOCKS, blocks_of
from memory_assets.text.masking.secret_patterns import FAMILIES, Family, base64_texts
from memory_assets.text.masking.unwrap import (
    INVISIBLE_BYTES,
    INVISIBLE_ESCAPE,
    PLAIN,
    Span,
    View,
    decode_base64,
    view_of,
    views,
    without_invisible,
)

MASK = b"*"
MAX_ROUNDS = 4
"""Most times that a text is searched. Masking one secret can uncover another; in real text, the
last round finds nothing.
"""
MAX_WINDOW = 262_144
"""Most bytes around an anchor that are searched."""
MAX_BASE64 = 3
"""Levels of base64 that are decoded. A key in a secret of Kubernetes is base64 of base64, and may
be in a data URL.
"""
_OBSCURED = Family(
    "obscured",
    r"\x00|\\u00(?:00|1[bB]|[2-7][0-9a-fA-F])|\x1b\[|\\(?:033|x1[bB]|e)\[|\\/|&(?:lt|gt|quot"
    r"|amp|apos|#[0-9]{2,3}|#x[0-9a-fA-F]{2});|%(?:[2-5][0-9A-Fa-f]|7[Ee])"
    r"|[?&][A-Za-z_]{1,20}=[A-Za-z0-9._-]*\+",
    (),
)
"""Signs of escaped plain characters, colours or percent codes. These may be in the middle of a text
that an anchor of another family would match.
"""
INVISIBLE_SIGN = b"\x7f"
"""Replaces each byte of an invisible character in the text in which anchors are looked for."""
_PLAIN_LETTER = re.compile(rb"[\t\n\r -~]")
_ESCAPED_LETTER = re.compile(rb"\\u(?!00[0-7])[0-9a-fA-F]{4}")
"""An emoji, or a letter of another script, as an escape."""


def _is_between_plain_letters(text: bytes, start: int, end: int) -> bool:
    has_plain_letters = _PLAIN_LETTER.match(text, start - 1) and _PLAIN_LETTER.match(text, end)
    return bool(has_plain_letters) and not _ESCAPED_LETTER.fullmatch(text, max(start - 6, 0), start)


_INVISIBLE = Family(
    "invisible", rf"(?:\x7f|(?i:{INVISIBLE_ESCAPE}))+", (), is_plausible=_is_between_plain_letters
)
"""Invisible characters. Between plain characters they may be in the middle of a secret; elsewhere
they belong to emoji and other scripts.
"""
OBSCURED_REACH = 1_500
"""Bytes around an obscured place that are unwrapped."""
ZEROS_REACH = 8 * OBSCURED_REACH
"""The same around a zero: letters of UTF-16 that were read as ASCII have `\\u0000` between them."""
_TORN = re.compile(rb"(?:\x1b(?:\[[0-9;:?]{0,24})?|\\(?:u[0-9a-fA-F]{0,3}|[0x][0-9a-fA-F]?)?)\Z")
"""Half a colour or half an escape at the end: what is before it cannot be judged."""
_WORD = re.compile(
    rb"(?s)(?:[A-Za-z0-9+/=_\\-]+|\[[0-9;:?]{0,24}[A-Za-z]|.{1,60}?(?=[A-Za-z0-9+/]{24}))*"
)
"""Base64, a key, or escapes, through the colours among them and what stands before its lines."""
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BETWEEN_STRINGS = re.compile(
    rb"(?:[\s{}\[\],:]|true|false|null|NaN|-?Infinity|-?[0-9][0-9.eE+-]*)*"
)
_FORM = re.compile(rb"[a-z_]*")
BACKSLASH = 92
LONGEST_ESCAPE = 12
"""An escape is six bytes, a colour has up to six more."""

MOST_CLEAN = 500_000
"""Most texts without a secret that are remembered: 32 MB of hashes."""
_SEED = randbits(64)
"""Seed of the hashes of texts without a secret. Each process has another one, so that nobody can
write a text that has the hash of a known one.
"""
_clean: set[int] = set()


def mask(chunk: bytes) -> tuple[bytes, int]:
    """Returns the lines with every secret replaced by as many asterisks, and their count."""
    return mask_all([chunk])[0]


def mask_all(chunks: Sequence[bytes]) -> list[tuple[bytes, int]]:
    """Returns `mask` of each chunk, in a fraction of the time if there are many small ones."""
    whole = b"".join(chunks)
    ends = list(accumulate(map(len, chunks), initial=0))
    bounds = sorted({*_line_bounds(whole), *ends})
    masked_lines = _masked_lines(whole, bounds)
    if not masked_lines:
        return [(chunk, 0) for chunk in chunks]
    masked = bytearray()
    counts = [0] * len(chunks)
    done = 0
    for row, (line, masks) in sorted(masked_lines.items()):
        masked += whole[done : bounds[row]] + line
        done = bounds[row + 1]
        counts[bisect_right(ends, bounds[row]) - 1] += masks
    masked += whole[done:]
    spans = zip(pairwise(ends), counts, strict=True)
    return [(bytes(masked[start:end]), count) for (start, end), count in spans]


def _masked_lines(chunk: bytes, bounds: list[int]) -> dict[int, tuple[bytes, int]]:
    """Returns the lines that had secrets, by number: each masked, with its number of secrets.

    A masked line is searched again until nothing more is found.
    """
    done: dict[int, tuple[bytes, int]] = {}
    rows: list[int] = list(range(len(bounds) - 1))
    for _ in range(MAX_ROUNDS):
        changed = []
        secrets_by_line: dict[int, list[Span]] = defaultdict(list)
        for index, secrets in _scan_lines(chunk, bounds):
            secrets_by_line[index] += secrets
        for index, secrets in sorted(secrets_by_line.items()):
            line = chunk[bounds[index] : bounds[index + 1]]
            spans = _inside_strings(line, merged(secrets))
            if spans:
                row = rows[index]
                done[row] = cover(line, spans), done.get(row, (b"", 0))[1] + len(spans)
                changed.append(row)
        if not changed:
            break
        rows = changed
        chunk = b"".join(done[row][0] for row in changed)
        bounds = [0, *accumulate(len(done[row][0]) for row in changed)]
    return done


def _scan_lines(chunk: bytes, bounds: list[int]) -> Iterator[tuple[int, list[Span]]]:
    """Yields the number of each line that has secrets, with their spans.

    The line itself and its joined blocks are searched.
    """
    lines = _series(chunk, bounds)
    rows = lines.str.contains(HAS_BLOCKS).arg_true().to_list()
    blocks_of_rows = ((row, blocks_of(chunk[bounds[row] : bounds[row + 1]])) for row in rows)
    joined = [(row, blocks) for row, blocks in blocks_of_rows if blocks]
    ends = list(accumulate((len(blocks.text) for _, blocks in joined), initial=0))
    texts = pl.concat([lines, _series(b"".join(blocks.text for _, blocks in joined), ends)])

    def view_at(index: int) -> View:
        if index < len(lines):
            return view_of(chunk[bounds[index] : bounds[index + 1]])
        return view_of(joined[index - len(lines)][1].text)

    for index, secrets in _scan(texts, view_at, escaped=len(lines)):
        if index < len(lines):
            yield index, secrets
        else:
            row, blocks = joined[index - len(lines)]
            yield row, [part for span in merged(secrets) for part in blocks.spans(*span)]


def find(text: str) -> list[Span]:
    """Returns where the secrets are in decoded text, in characters and in order."""
    raw = text.encode("utf-8", "surrogatepass")
    byte_spans = (span for _, spans in _scan_decoded(raw, [0, len(raw)]) for span in merged(spans))
    return [(_characters(raw, start), _characters(raw, end)) for start, end in byte_spans]


def mask_text(text: str) -> tuple[str, int]:
    """Returns decoded text with every secret replaced by as many asterisks, and their count."""
    count = 0
    for _ in range(MAX_ROUNDS):
        secrets = find(text)
        if not secrets:
            break
        count += len(secrets)
        for start, end in secrets:
            text = text[:start] + "*" * (end - start) + text[end:]
    return text, count


def rules_of(text: str) -> list[str]:
    """Returns the names of the families that find a secret in decoded text.

    The name is `wrapped` if the secret is encoded; there is none for a text without a secret.
    """
    raw = text.encode("utf-8", "surrogatepass")
    rules = []
    for family in FAMILIES:
        secrets_by_row: dict[int, list[Span]] = defaultdict(list)
        series = _series(raw, [0, len(raw)])
        _search(series, lambda row: (row, view_of(raw)), [family], secrets_by_row)
        rules += [family.name] if secrets_by_row[0] else []
    return rules or (["wrapped"] if find(text) else [])


def count_secrets(series: pl.Series) -> int:
    """Returns how many secrets the texts of a column hold."""
    arrow = series.drop_nulls().rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    texts = arrow.cast(pa.large_string())
    if not len(texts):
        return 0
    offsets = np.frombuffer(texts.buffers()[1], np.int64)
    bounds = offsets[texts.offset : texts.offset + len(texts) + 1].tolist()
    content = texts.buffers()[2].to_pybytes() if texts.buffers()[2] else b""
    return sum(len(merged(secrets)) for _, secrets in _scan_decoded(content, bounds))


def mask_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows with every secret in a text or a list of texts replaced by asterisks.

    Some tables have texts that were joined from pieces masked one by one. A secret may be visible
    only in the joined text, which the check for secrets reads.
    """
    columns = [frame[name] for name in _names_of_texts(frame)]
    if not columns or _is_clean(pl.concat([_joined(column).alias("text") for column in columns])):
        return frame
    return frame.with_columns(_mask_column(c) for c in columns if not _is_clean(_joined(c)))


def are_clean(texts: Sequence[str]) -> bool:
    """Returns whether no text holds a secret."""
    return _is_clean(pl.Series(texts, dtype=pl.String))


def _is_clean(texts: pl.Series) -> bool:
    """Returns whether no text holds a secret.

    A text that this process has already searched without finding a secret is not searched again:
    rows are masked before they are written and checked afterwards, and most rows of a table are
    those of the run before.
    """
    hashes = texts.hash(_SEED).to_list()
    are_clean = [hash in _clean for hash in hashes]
    if all(are_clean):
        return True
    if count_secrets(texts.filter(~pl.Series(are_clean))):
        return False
    if len(_clean) > MOST_CLEAN:
        _clean.clear()
    _clean.update(hashes)
    return True


def secret_rows(frame: pl.DataFrame) -> list[int]:
    """Returns the numbers of the rows in which a text, or a joined list of texts, has a secret."""
    rows: set[int] = set()
    for column in (_joined(frame[name]) for name in _names_of_texts(frame)):
        if not _is_clean(column):
            rows.update(row for row, text in enumerate(column) if text and find(text))
    return sorted(rows)


def secret_rules(frame: pl.DataFrame, row: int) -> list[str]:
    """Returns the columns in which the row has secrets, with the rules, as in `text: tokens`.

    The secrets themselves are never returned.
    """
    rules = {name: rules_of(_joined(frame[name])[row] or "") for name in _names_of_texts(frame)}
    return [f"{name}: {rule}" for name, of_column in rules.items() for rule in of_column]


def _names_of_texts(frame: pl.DataFrame) -> list[str]:
    """Returns the columns of texts, and of lists of texts."""
    texts = (pl.String, pl.List(pl.String))
    return [name for name, dtype in frame.schema.items() if dtype in texts]


def _joined(column: pl.Series) -> pl.Series:
    """Returns a column of lists with the texts of each joined, and a column of texts as it is."""
    return column.list.join("\n") if column.dtype == pl.List(pl.String) else column


def _mask_column(column: pl.Series) -> pl.Series:
    masked = [None if text is None else mask_text(text)[0] for text in _joined(column)]
    if column.dtype == pl.List(pl.String):
        pairs = zip(masked, column.to_list(), strict=True)
        masked = [None if text is None else _split(text, texts) for text, texts in pairs]
    return pl.Series(column.name, masked, dtype=column.dtype)


def _split(text: str, like: Sequence[str]) -> list[str]:
    """Cuts a text that was joined with line breaks into pieces of the same lengths."""
    ends = list(accumulate((len(piece) + 1 for piece in like), initial=0))
    return [text[start : end - 1] for start, end in pairwise(ends)]


def _line_bounds(chunk: bytes) -> list[int]:
    """Returns where the lines begin, and the end of the last one."""
    ends = (np.flatnonzero(np.frombuffer(chunk, np.uint8) == 10) + 1).tolist()
    return [0, *ends] if not chunk or (ends and ends[-1] == len(chunk)) else [0, *ends, len(chunk)]


def _series(chunk: bytes, bounds: list[int]) -> pl.Series:
    """Returns the lines as a column without copying them.

    Bytes other than ASCII are replaced, because they may be broken UTF-8.
    """
    plain = chunk if chunk.isascii() else _blanked(chunk)
    offsets = pa.py_buffer(np.asarray(bounds, np.int64))
    count = len(bounds) - 1
    lines = pa.LargeStringArray.from_buffers(count, offsets, pa.py_buffer(plain))
    return pl.Series(pl.from_arrow(lines))


def _blanked(chunk: bytes) -> bytearray:
    """Returns ASCII of the same length, with `INVISIBLE_SIGN` for bytes of invisible characters.

    These are looked for in the bytes beyond ASCII only, which is much faster.
    """
    plain = bytearray(chunk.translate(PLAIN))
    content = np.frombuffer(chunk, np.uint8)
    places = np.flatnonzero(content >= 0x80)
    for character in INVISIBLE_BYTES.finditer(content[places].tobytes()):
        size = len(character[0])
        start = places[character.start()]
        plain[start : start + size] = INVISIBLE_SIGN * size
    return plain


def _scan_decoded(content: bytes, bounds: list[int]) -> Iterator[tuple[int, list[Span]]]:
    """Yields the number of each decoded text that has secrets, with their spans."""

    def view_at(row: int) -> View:
        return view_of(content[bounds[row] : bounds[row + 1]])

    yield from _scan(_series(content, bounds), view_at)


def _scan(
    series: pl.Series, view_at: Callable[[int], View], escaped: int = 0
) -> Iterator[tuple[int, list[Span]]]:
    """Yields the number of each text that has secrets, with their spans.

    Obscured text and base64 are unwrapped first. The first `escaped` texts are lines of JSON; the
    others are decoded.
    """
    secrets_by_row: dict[int, list[Span]] = defaultdict(list)
    families = (*FAMILIES, _OBSCURED)
    wrapped = _search(series, lambda row: (row, view_at(row)), families, secrets_by_row, escaped)
    rows = (row for _, row, _ in _anchored(series, [_INVISIBLE]))
    views_as_seen = ((row, without_invisible(view_at(row))) for row in rows)
    shown = [(row, view) for row, view in views_as_seen if view]
    if shown:
        texts = (_series_of(shown), shown.__getitem__)
        count = sum(row < escaped for row, _ in shown)
        wrapped += _search(*texts, families, secrets_by_row, count)
    for _ in range(MAX_BASE64):
        if not wrapped:
            break
        wrapped = _search(_series_of(wrapped), wrapped.__getitem__, FAMILIES, secrets_by_row)
    yield from ((row, secrets) for row, secrets in sorted(secrets_by_row.items()) if secrets)


def _series_of(rows: Sequence[tuple[int, View]]) -> pl.Series:
    """Returns the texts of the views as a column."""
    texts = [view.text for _, view in rows]
    return _series(b"".join(texts), list(accumulate(map(len, texts), initial=0)))


def _search(
    series: pl.Series,
    text_at: Callable[[int], tuple[int, View]],
    families: Sequence[Family],
    secrets_of: dict[int, list[Span]],
    escaped: int = 0,
) -> list[tuple[int, View]]:
    """Adds the secrets of the texts to `secrets_of`, and returns the texts wrapped inside them."""
    wrapped: list[tuple[int, View]] = []
    for family, index, anchors in _anchored(series, families):
        row, view = text_at(index)
        if family is _OBSCURED:
            inner = _unwrapped_views(view, anchors)
        else:
            secrets, inner = _check_windows(view, anchors, family, escaped=index < escaped)
            secrets_of[row] += secrets
        wrapped += [(row, each) for each in inner]
    return wrapped


def _unwrapped_views(view: View, anchors: list[Span]) -> Iterator[View]:
    """Yields the text around each obscured place, once for each wrapping that is taken off."""
    end = 0
    for anchor_start, anchor_end in anchors:
        is_zero = view.text[anchor_start:anchor_end] in (b"\x00", b"\\u0000")
        reach = ZEROS_REACH if is_zero else OBSCURED_REACH
        if min(anchor_end + reach // 2, len(view.text)) <= end:
            continue
        start = _whole_escapes(view.text, anchor_start - reach)
        end = _end_of_word(view.text, anchor_end + reach)
        window = view.slice(start, end)
        yield from (inner for inner in views(window, with_itself=False) if inner is not window)


def _anchored(
    series: pl.Series, families: Sequence[Family]
) -> Iterator[tuple[Family, int, list[Span]]]:
    """Yields a family, the number of a text that has plausible anchors of it, and their spans."""
    texts = series.rename("text").to_frame()
    text = pl.col("text").str
    matches = texts.select(text.extract_all(f.anchor).alias(f.name) for f in families)
    counts = matches.select(pl.all().list.len().sum()).row(0)
    for family in (family for family, count in zip(families, counts, strict=True) if count):
        rows = (matches[family.name].list.len() > 0).arg_true()
        columns = (rows, series.gather(rows), matches[family.name].gather(rows))
        for row, text, matched in zip(*(column.to_list() for column in columns), strict=True):
            anchors = list(_plausible(family, text, matched))
            if anchors:
                yield family, row, anchors


def _plausible(family: Family, text: str, matches: Sequence[str]) -> Iterator[Span]:
    """Yields the spans of those matches of the family's anchor that may belong to a secret."""
    raw = text.encode()
    end = 0
    for match in matches:
        # No anchor looks behind, so the next place with the same text is where it matched.
        start = text.index(match, end)
        end = start + len(match)
        if family.is_plausible(raw, start, end):
            yield start, end


def _check_windows(
    view: View, anchors: list[Span], family: Family, *, escaped: bool
) -> tuple[list[Span], list[View]]:
    """Returns the secrets near the anchors, and the decoded base64 there.

    A window is the text around an anchor that is checked; it grows while its end may cut a secret.
    """
    secrets: list[Span] = []
    decoded: dict[tuple[Span, bytes], View] = {}
    done = 0
    for anchor_start, anchor_end in anchors:
        if anchor_end <= done:
            continue
        start = _whole_escapes(view.text, anchor_start - family.before)
        size = family.after
        while True:
            end = min(anchor_end + size, len(view.text))
            if family.has_base64:
                end = _end_of_word(view.text, end)
            window = view.slice(start, end)
            unwrapped = list(views(window, with_itself=not escaped))
            new_secrets, is_cut = _check_window(window, unwrapped, family)
            if not is_cut or end == len(view.text) or size > MAX_WINDOW:
                break
            size *= 4
        done = end - family.after // 2
        secrets += new_secrets
        if family.has_base64:
            decoded |= _decoded(unwrapped)
    return secrets, [*decoded.values()]


def _check_window(window: View, unwrapped: list[View], family: Family) -> tuple[list[Span], bool]:
    """Returns the secrets of a window, and whether its end may cut one.

    `unwrapped` is the window under each of its wrappings.
    """
    matches = [
        (inner, span)
        for inner in unwrapped
        for finder in family.finders
        for span in finder(inner.text)
    ]
    spans = [inner.span(*span) for inner, span in matches]
    is_torn = any(_TORN.search(inner.text) for inner in unwrapped)
    is_cut = is_torn or any(end == len(inner.text) for inner, (_, end) in matches)
    window_end = window.span(len(window.text) - 1, len(window.text))[1] if matches else 0
    return spans, is_cut or any(end > window_end - 4 for _, end in spans)


def _decoded(unwrapped: list[View]) -> dict[tuple[Span, bytes], View]:
    """Returns the decoded base64 of a window, under each of its own wrappings.

    The keys are the place and the text: each text is there once for every place that holds it.
    """
    decoded: dict[tuple[Span, bytes], View] = {}
    for view in unwrapped:
        for places in base64_texts(view.text):
            text = decode_base64(view, places)
            span = view.span(places[0], places[-1] + 1)
            for inner in views(text, with_itself=True) if text else ():
                decoded[span, inner.text] = inner
    return decoded


def _end_of_word(text: bytes, position: int) -> int:
    """Returns the first place from the position on where the key or the base64 ends."""
    if position >= len(text):
        return len(text)
    word = _WORD.match(text, position, position + MAX_WINDOW)
    return word.end() if word else position


def _whole_escapes(text: bytes, position: int) -> int:
    """Returns the last place up to the position that is not inside an escape.

    It is the position itself, or the first of the backslashes shortly before it.
    """
    position = max(position, 0)
    backslash = text.rfind(b"\\", max(position - LONGEST_ESCAPE, 0), position + 1)
    while backslash > 0 and text[backslash - 1] == BACKSLASH:
        backslash -= 1
    return position if backslash < 0 else backslash


def merged(spans: Iterable[Span]) -> list[Span]:
    """Returns the spans in order, overlapping ones as one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _inside_strings(line: bytes, spans: list[Span]) -> list[Span]:
    """Returns the parts of the spans that are inside the strings of a JSON line.

    In a line that is not JSON, they may be anywhere but in the line break.
    """
    strings = strings_of(line)
    if strings is None:
        return [(start, min(end, len(line.rstrip(b"\r\n")))) for start, end in spans]
    inside = []
    index = 0
    for start, end in spans:
        while index and strings[index - 1][1] > start:
            index -= 1
        while index < len(strings) and strings[index][0] < end:
            opening, closing = strings[index]
            begin, stop = _off_escapes(line, max(start, opening + 1), min(end, closing - 1))
            is_between = start < opening and closing < end
            if begin < stop and not (is_between and _is_form(line, opening, closing)):
                inside.append((begin, stop))
            index += 1
    return inside


def _is_form(line: bytes, start: int, end: int) -> bool:
    """Returns whether a string between two parts of a secret is a key or a word such as `text`.

    Such a string belongs to the record and not to the secret.
    """
    is_key = line[end : end + 8].lstrip().startswith(b":")
    return is_key or _FORM.fullmatch(line, start + 1, end - 1) is not None


def strings_of(line: bytes) -> list[Span] | None:
    """Returns the spans of the strings of a JSON line or of a piece of one, with their quotes.

    Returns None if it is not JSON.
    """
    is_json = _BETWEEN_STRINGS.fullmatch(_STRING.sub(b"", line)) is not None
    return [match.span() for match in _STRING.finditer(line)] if is_json else None


def _off_escapes(line: bytes, start: int, end: int) -> Span:
    """Returns the span with whole escapes at its ends, because half an escape is not JSON."""
    if _is_escaped(line, end):
        end -= 1
    if _is_escaped(line, start):
        start += 1
    escape = line.rfind(b"\\u", max(start - 5, 0), start)
    if escape >= 0 and escape + 6 > start and not _is_escaped(line, escape):
        start = escape
    return start, end


def _is_escaped(line: bytes, position: int) -> bool:
    """Returns whether an odd number of backslashes ends right before the position."""
    start = position
    while start and line[start - 1] == BACKSLASH:
        start -= 1
    return (position - start) % 2 == 1


def cover(raw: bytes, spans: Iterable[Span]) -> bytes:
    """Returns the bytes with asterisks in the spans."""
    covered = bytearray(raw)
    for start, end in spans:
        covered[start:end] = MASK * (end - start)
    return bytes(covered)


def _characters(raw: bytes, position: int) -> int:
    """Returns the number of characters before the byte at the position."""
    return len(raw[:position].decode("utf-8", "surrogatepass"))
