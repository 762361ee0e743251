"""The page on capture says of each known type of record whose words it holds, and names no other type."""

import re
import tomllib
from collections import Counter
from pathlib import Path

from memory_assets import harnesses
from memory_assets.schema.vocabulary import HARNESS_TITLES

FOLDERS = {title: name for name, title in HARNESS_TITLES.items()}
ROW = re.compile(rf"^\| ({'|'.join(FOLDERS)}) \| (?:your words|a model's|state) \| (.+) \|$", re.M)


def test_each_known_type_of_record_is_in_one_row_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "capture.md").read_text("utf-8")
    rows = [(title, cell.replace("<br>", " ")) for title, cell in ROW.findall(page)]
    listed = Counter((title, name) for title, cell in rows for name in re.findall(r"[\w-]+", cell))
    known = set()
    for title, folder in FOLDERS.items():
        lists = tomllib.loads(
            (Path(harnesses.__file__).parent / folder / "reader.toml").read_text("utf-8")
        )
        known |= {(title, name) for names in lists.values() for name in names.split()}
    assert listed == Counter(known)
