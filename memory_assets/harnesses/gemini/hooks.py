"""Our part of Gemini CLI's settings: hooks and the server of tools, in one file."""

from memory_assets.harnesses.hook_commands import HookTarget
from memory_assets.harnesses.hook_events import AT_PROMPT, END, PROMPT, START
from memory_assets.harnesses.hook_parts import HOOK_SECONDS, HookPart, JsonHooks, JsonServer
from memory_assets.harnesses.part_of_one_file import JoinedParts

EVENTS = {START: "BeforeAgent", END: END, PROMPT: "BeforeAgent"}
"""Our name of an event → Gemini's.

The briefing comes with the first prompt. What a hook adds at Gemini's `SessionStart` is dropped in
a session that was cleared; in a resumed one it is dropped together with the first prompt. There is
no hook at `PreCompress`, because that runs before each call of the model, compressed or not.
"""


def hook_parts(target: HookTarget) -> tuple[HookPart, ...]:
    """Returns the part for the target. Gemini gives the timeout of a hook in milliseconds."""
    path = target.folder / "settings.json"
    commands = {
        event: command for event, command in target.hook_commands().items() if event in EVENTS
    }
    commands[START] = target.hook_command(START, "--source", AT_PROMPT)
    hooks = JsonHooks(
        path=path,
        harness=target.harness,
        commands=commands,
        events=EVENTS,
        timeout=HOOK_SECONDS * 1000,
    )
    server = JsonServer(path=path, entry={**target.server_entry(), "trust": True})
    return (JoinedParts(path=path, parts=(hooks, server)),)
