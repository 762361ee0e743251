"""Writes approved changes of files outside the workspace as patches; the files themselves are not
touched.

A patch is made against the file as it is in the project, or creates the file; `git apply` and
`patch -p1` accept it in the project's folder. It is written once: a person's changes to it stay.
"""

import difflib
import json
import re
from pathlib import Path, PurePosixPath

from memory_assets.schema.protocols import Row
from memory_assets.stages.friction.finding import PERMISSIONS
from memory_assets.stages.triage.memory_md import insert
from memory_assets.stages.triage.promote import Workspace
from memory_assets.text.files import write_atomically

PATCHED = "friction.patched"
FOLDER = "patches"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def write_patch(friction: Row, text: str, workspace: Workspace) -> str:
    """Writes and commits the patch of an approved change, and returns its path in the workspace.

    `text` is the approved line, which a person may have reworded.
    """
    path = f"{FOLDER}/{friction['proposal_id']}.patch"
    root, name = _place(friction)
    target = root / name
    content = target.read_bytes().decode("utf-8", "surrogateescape") if target.is_file() else None
    is_line = friction["text"] == friction["new"]
    head = (
        f"{friction['proposal_id']}: {friction['title']}\nTo apply: cd {root} && git apply "
        f"{workspace.root / path}\n"
    )
    patch = head + render_diff({**friction, **({"new": text} if is_line else {})}, name, content)
    encoded = patch.encode("utf-8", "surrogateescape")
    write_atomically(workspace.root / path, encoded)
    workspace.commit_content(f"{friction['proposal_id']}: patch of {name}", {path: encoded})
    return path


def render_diff(friction: Row, name: str, content: str | None) -> str:
    """Returns the change as a diff of the file `name` with this content (None: it does not
    exist).
    """
    if friction["old"]:
        is_there = content is not None and friction["old"] in content
        old_text = content if content is not None and is_there else _ended(friction["old"])
        after = old_text.replace(friction["old"], friction["new"], 1)
        return _diff(name, old_text, after, is_new=False)
    after = _ended(friction["new"])
    if friction["section"] in PERMISSIONS:
        after = _with_permissions(content or "{}", friction["section"], friction["new"])
    elif friction["section"]:
        old_text = content or f"# {PurePosixPath(name).name.removesuffix('.md')}\n"
        encoded = old_text.encode("utf-8", "surrogateescape")
        inserted = insert(encoded, friction["section"], f"- {friction['new']}")
        after = inserted.decode("utf-8", "surrogateescape")
    return _diff(name, content or "", after, is_new=content is None)


def _with_permissions(content: str, section: str, rules: str) -> str:
    """Returns settings of Claude Code with further rules; unchanged if they are no JSON object."""
    try:
        settings = json.loads(content)
        permissions = settings.get("permissions") or {}
        listed = permissions.get(section) or []
        further = [rule for rule in rules.splitlines() if rule not in listed]
        settings["permissions"] = {**permissions, section: [*listed, *further]}
    except (ValueError, AttributeError, TypeError):
        return content
    return _ended(json.dumps(settings, indent=2, ensure_ascii=False))


def _place(friction: Row) -> tuple[Path, str]:
    """Returns the folder to apply the patch in (the project, or the root), and the target's path in
    it.
    """
    target = PurePosixPath(friction["target"])
    folder = PurePosixPath(friction["folder"] or "/")
    if folder != PurePosixPath("/") and target.is_relative_to(folder):
        return Path(folder), str(target.relative_to(folder))
    return Path("/"), str(target).lstrip("/")


def _diff(name: str, old_text: str, new_text: str, *, is_new: bool) -> str:
    mode = "new file mode 100644\n" if is_new else ""
    old_name = "/dev/null" if is_new else f"a/{name}"
    texts = (_LINE.findall(old_text), _LINE.findall(new_text))
    lines = difflib.unified_diff(*texts, old_name, f"b/{name}")
    open_end = "\n\\ No newline at end of file\n"
    whole = (line if line.endswith("\n") else line + open_end for line in lines)
    return f"diff --git a/{name} b/{name}\n{mode}{''.join(whole)}"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
