"""Pictures in transcript lines: found in all three formats, in order; broken ones and doubles left out."""

import base64
import json
from pathlib import Path

import pytest

from memory_assets.harnesses.images import images_in
from memory_assets.harnesses.readers import open_reader
from memory_assets.schema.protocols import Image
from memory_assets.stages.capture.discover import find_transcripts


def coded(image: Image) -> str:
    return base64.b64encode(image.data).decode()


def block(image: Image) -> dict:
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": image.media_type, "data": coded(image)},
    }


WHOLE = {
    "image/png": b"\x89PNG\r\n\x1a\n one",
    "image/jpeg": b"\xff\xd8\xff\xe0 two",
    "image/gif": b"GIF89a three",
    "image/webp": b"RIFF\x00\x00\x00\x00WEBPVP8 four",
}


@pytest.mark.parametrize("named", ["image/png", "IMAGE/GIF", "image/jpg", "image/tiff"])
@pytest.mark.parametrize("kind", WHOLE)
def test_a_picture_is_of_the_type_that_its_bytes_say(kind: str, named: str):
    line = {"message": {"content": [block(Image(named, WHOLE[kind]))]}}
    assert images_in(json.dumps(line).encode()) == (Image(kind, WHOLE[kind]),)


@pytest.mark.parametrize(
    "line",
    [
        b'{"message": {"content": [{"type": "image", "source": {"media_type": "image/png", "data": ""}}]}}',
        b'{"message": {"content": [{"type": "image", "source": {"media_type": "image/png", "data": "iVBORw0KGg"}}]}}',
        b'{"message": {"content": [{"type": "image", "source": {"media_type": "image/png", "data": "\xc3\xa9AAA"}}]}}',
        b'{"payload": {"content": [{"type": "input_image", "image_url": "data:image/png;base64,"}]}}',
        b"{torn",
        b"[1]",
        b'{"message": {"content": [{"type": "image", "source": {"media_type": "image/png", "data": "%%%"}}]}}',
        b'{"message": {"content": [{"type": "image", "source": {"media_type": "image/tiff", "data": "AAAA"}}]}}',
        b'{"payload": {"content": [{"type": "input_image", "image_url": "https://example.org/a.png"}]}}',
        b'{"message": {"content": "a string"}}',
    ],
)
def test_what_is_broken_or_no_picture_is_left_out(line: bytes):
    assert images_in(line) == ()


@pytest.mark.slow
def test_of_the_two_pictures_in_the_real_transcripts_one_still_has_its_bytes(
    real_transcripts: Path,
):
    counted = found = 0
    for file in find_transcripts([real_transcripts]):
        reader = open_reader(file.harness, str(file.path))
        with file.open() as lines:
            for line in lines:
                parsed = reader.read(line)
                counted += parsed.image_count
                found += len(images_in(line)) if parsed.image_count else 0
    assert (found, counted) == (1, 2)  # the publisher of the other one replaced its bytes
