"""Trusts the hooks of a Codex home, as a person does with `/hooks`."""

import json
from pathlib import Path

from memory_assets.harnesses.codex.hooks import hash_of_hook, snake_case


def trust(home: Path) -> None:
    """Notes the hash of each hook in `config.toml`."""
    path, config = home / "hooks.json", home / "config.toml"
    tables = "".join(
        f'\n[hooks.state."{path}:{snake_case(event)}:{place}:{index}"]\n'
        f'trusted_hash = "{hash_of_hook(event, hook, group.get("matcher"))}"\n'
        for event, groups in json.loads(path.read_text())["hooks"].items()
        for place, group in enumerate(groups)
        for index, hook in enumerate(group["hooks"])
    )
    config.write_text((config.read_text() if config.is_file() else "") + tables)
