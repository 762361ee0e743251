"""The facade: the only way into the store for interfaces.

`MemoryAgent` has one method for each verb that a person or an agent can ask. What the command line
offers beside verbs lies in modules by purpose: `running`, `tables`, `transfer`, `models`,
`settings`, `hook_settings`, `uninstall`, `notebook`, `completion`. `places`, `prepared` and `hooks`
need the standard library alone, for commands that harnesses call at every session start; so
importing this package imports nothing else.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from memory_assets.memory.agent import MemoryAgent, announcements, scan

__all__ = ["MemoryAgent", "announcements", "scan"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from memory_assets.memory import agent

        return getattr(agent, name)
    raise AttributeError(f"module 'memory_assets.memory' has no attribute '{name}'")
