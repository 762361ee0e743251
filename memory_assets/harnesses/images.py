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

SAID_IN = ("message", "payload", "attachment")
"""Parts of a record that hold the conversation; Claude Code has a second copy of tool results
beside it.
"""

_DATA_URL = re.compile(r"data:(image/[a-z+.-]+);base64,(.*)", re.S | re.I)


def images_in(line: bytes) -> tuple[Image, ...]:
    """Returns the images of the line; none where it is not JSON."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return ()
    contents = [record.get(part) for part in SAID_IN] if isinstance(record, dict) else []
    return tuple(image for image in map(_decoded, _encoded(contents)) if image is not None)


def _encoded(node: Any) -> Iterator[tuple[str, str]]:
    """Yields media type and base64 of every image block, in the order of the line."""
    if isinstance(node, list):
        for child in node:
            yield from _encoded(child)
    elif isinstance(node, dict):
        image = _image(node)
        if image:
            yield image
        else:
            yield from _encoded(list(node.values()))


def _image(block: dict[str, Any]) -> tuple[str, str] | None:
    """Returns media type and base64 of an image block."""
    if block.get("type") == "image":
        inner = block.get("source")
        source = inner if isinstance(inner, dict) else block
        kind, data = source.get("media_type") or source.get("mimeType"), source.get("data")
        return (kind, data) if isinstance(kind, str) and isinstance(data, str) else None
    if block.get("type") in ("input_image", "image_url"):
        url = block.get("image_url")
        url = url.get("url") if isinstance(url, dict) else url
        match = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
        return (match[1], match[2]) if match else None
    return None


def _decoded(encoded: tuple[str, str]) -> Image | None:
    named, text = encoded
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        return None
    media_type = _media_type(named, data)
    return Image(media_type, data) if data and media_type in MEDIA_TYPES else None


def _media_type(named: str, data: bytes) -> str:
    """Returns the type by the first bytes, else the declared one."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next(
        (kind for signature, kind in SIGNATURES.items() if data.startswith(signature)),
        named.lower(),
    )
