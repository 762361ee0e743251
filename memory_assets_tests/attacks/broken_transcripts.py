"""Transcripts that are not as a harness writes them, each by its name; `good` are the bytes of a whole one."""

import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path

import orjson
import zstandard

Break = Callable[[Path, bytes], None]

DEEP = b'{"type":"user","message":' + b"[" * 3_000 + b"]" * 3_000 + b"}\n"
LONE = (
    rb'{"type":"user","uuid":"u-lone","message":{"role":"user","content":"half an emoji \ud83d"}}'
    + b"\n"
)


def written(change: Callable[[bytes], bytes]) -> Break:
    """The transcript with other bytes."""

    def write(path: Path, good: bytes) -> None:
        path.write_bytes(change(good))

    return write


def each(change: Callable[[dict], object]) -> Break:
    """The transcript with every record changed."""

    def changed(good: bytes) -> bytes:
        return b"".join(
            orjson.dumps(change(orjson.loads(line))) + b"\n" for line in good.splitlines()
        )

    return written(changed)


def between(line: bytes) -> Break:
    """The transcript with a line between its records."""
    return written(lambda good: line.join(good.splitlines(keepends=True)))


def without(name: str) -> Break:
    """The transcript without a field."""
    return each(lambda record: {key: value for key, value in record.items() if key != name})


def given(name: str, value: object) -> Break:
    """The transcript with another value of a field."""
    return each(lambda record: {**record, name: value})


def a_folder(path: Path, good: bytes) -> None:
    """A folder has the name of the transcript."""
    path.mkdir()
    (path / "inside.jsonl").write_bytes(good)


def a_link_to_itself(path: Path, _: bytes) -> None:
    """The transcript is a link that leads nowhere."""
    path.symlink_to(path)


def a_link_to_nothing(path: Path, _: bytes) -> None:
    """The transcript is a link to a file that is gone."""
    path.symlink_to(path.with_name("gone.jsonl"))


def a_pipe(path: Path, _: bytes) -> None:
    """The transcript is a pipe that nobody writes to."""
    os.mkfifo(path)


BREAKS: dict[str, Break] = {
    "empty": written(lambda good: b""),
    "one newline": written(lambda good: b"\n"),
    "blank lines": between(b"\n \t\n"),
    "no last newline": written(lambda good: good.rstrip(b"\n")),
    "torn in the last record": written(lambda good: good[:-40]),
    "torn in the middle": written(
        lambda good: good[: len(good) // 2] + b"\n" + good[len(good) // 2 :]
    ),
    "torn inside a character": written(
        lambda good: good.replace(b"point 2", "Höhe".encode()[:2] + b'"}')
    ),
    "not UTF-8": written(lambda good: good.replace(b"point 1", b"caf\xe9 \xff\xfe")),
    "UTF-16": written(lambda good: good.decode().encode("utf-16")),
    "byte order mark": written(lambda good: b"\xef\xbb\xbf" + good),
    "byte order mark at each line": between(b"\xef\xbb\xbf"),
    "Windows line ends": written(lambda good: good.replace(b"\n", b"\r\n")),
    "old Mac line ends": written(lambda good: good.replace(b"\n", b"\r")),
    "nul bytes between": between(b"\0" * 64 + b"\n"),
    "nul bytes in a text": written(lambda good: good.replace(b"point 1", rb"a \u0000 b")),
    "all nul": written(lambda good: b"\0" * len(good)),
    "noise": written(lambda good: os.urandom(5_000)),
    "numbers": between(b"42\n"),
    "lists": between(b'["user", "hello"]\n'),
    "nulls": between(b"null\n"),
    "texts": between(b'"user"\n'),
    "NaN": between(b'{"type": "user", "timestamp": NaN}\n'),
    "endless nesting": between(DEEP),
    "half an emoji": between(LONE),
    "twice the same keys": between(b'{"type":"user","type":"assistant","message":{}}\n'),
    "a type that nobody knows": given("type", "hologram"),
    "a type that is no text": given("type", {"of": "message"}),
    "no type": without("type"),
    "no message": without("message"),
    "a message that is a text": given("message", "hello"),
    "a message that is a list": given("message", [1, 2]),
    "content that is a number": given("message", {"role": "user", "content": 7}),
    "content of nulls": given("message", {"role": "user", "content": [None, {"type": None}]}),
    "no ids": each(
        lambda record: {
            key: value
            for key, value in record.items()
            if key not in ("uuid", "message", "sessionId")
        }
    ),
    "the same id for all": given("uuid", "u-1"),
    "no times": without("timestamp"),
    "times that are none": given("timestamp", "soon"),
    "times before harnesses": given("timestamp", "1970-01-01T00:00:00.000Z"),
    "times of the far future": given("timestamp", "9999-12-31T23:59:59.999Z"),
    "times without a zone": given("timestamp", "2026-08-03T09:00:00"),
    "times as numbers": given("timestamp", 1_785_000_000_000),
    "30 February": given("timestamp", "2026-02-30T09:00:00.000Z"),
    "folder that is a number": given("cwd", 5),
    "folder of another system": given("cwd", "C:\\Users\\mira\\shop"),
    "enormous numbers": between(b'{"type":"user","timestamp":1e400,"n":' + b"9" * 5_000 + b"}\n"),
    "records in the wrong order": written(
        lambda good: b"".join(reversed(good.splitlines(keepends=True)))
    ),
    "every record twice": written(lambda good: good + good),
    "another session's id in the middle": written(
        lambda good: re.sub(rb'"sessionId":"broken"', b'"sessionId":"other"', good, count=3)
    ),
    "compressed without saying so": written(lambda good: gzip.compress(good)),
    "zstd without saying so": written(lambda good: zstandard.ZstdCompressor().compress(good)),
    "a page of HTML": written(lambda good: b"<!doctype html><html><body>Sign in</body></html>\n"),
    "a folder": a_folder,
    "a link to itself": a_link_to_itself,
    "a link to nothing": a_link_to_nothing,
    "a pipe": a_pipe,
}
