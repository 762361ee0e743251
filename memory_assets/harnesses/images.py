"""Finds the images in a raw line of a transcript, in order.

Claude Code and pi nest them in content blocks, also in tool results; Codex writes data URLs. Broken
images, and those of a type that no model takes, are left out.
"""

import base64
import re
from collections.abc import Iterator
from typing import Any

import orjson

from memory_assets.schema.protocols import Image

MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")

SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
"""First bytes of images: providers refuse a question with an image whose declared type is wrong."""

CONVERSATION_FIELDS = ("message", "payload", "attachment")
"""Fields of a record that hold the conversation. Claude Code writes a second copy of tool results
into another field, which is not searched.
"""

_DATA_URL = re.compile(r"data:(image/[a-z+.-]+);base64,(.*)", re.S | re.I)


def images_in(line: bytes) -> tuple[Image, ...]:
    """Returns the images of the line; none if the line is not JSON."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return ()
    if not isinstance(record, dict):
        return ()
    contents = [record.get(name) for name in CONVERSATION_FIELDS]
    return tuple(filter(None, map(_decode, _find_encoded(contents))))


def _find_encoded(node: Any) -> Iterator[tuple[str, str]]:
    """Yields media type and base64 of every image block, in the order of the line."""
    if isinstance(node, list):
        for child in node:
            yield from _find_encoded(child)
    elif isinstance(node, dict):
        image = _encoded_image(node)
        if image:
            yield image
        else:
            yield from _find_encoded(list(node.values()))


def _encoded_image(block: dict[str, Any]) -> tuple[str, str] | None:
    """Returns media type and base64 of an image block; None for any other block."""
    if block.get("type") == "image":
        inner = block.get("source")
        source = inner if isinstance(inner, dict) else block
        kind = source.get("media_type") or source.get("mimeType")
        data = source.get("data")
        return (kind, data) if isinstance(kind, str) and isinstance(data, str) else None
    if block.get("type") in ("input_image", "image_url"):
        url = block.get("image_url")
        url = url.get("url") if isinstance(url, dict) else url
        match = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
        return (match[1], match[2]) if match else None
    return None


def _decode(encoded: tuple[str, str]) -> Image | None:
    """Returns the image of a declared media type and base64; None if it cannot be used."""
    declared, text = encoded
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        return None
    media_type = _media_type(declared, data)
    return Image(media_type, data) if data and media_type in MEDIA_TYPES else None


def _media_type(declared: str, data: bytes) -> str:
    """Returns the type that the first bytes show, else the declared type."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for signature, media_type in SIGNATURES.items():
        if data.startswith(signature):
            return media_type
    return declared.lower()
