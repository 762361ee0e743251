"""The facade: the only way into the store for interfaces.

`MemoryAgent` has one method for each verb that a person or an agent can ask. Other commands of the
command line use a module for each purpose: `running`, `tables`, `transfer`, `models`, `settings`,
`hook_settings`, `uninstall`, `notebook`, `completion`.

`places`, `prepared` and `hooks` need only the standard library, because harnesses call their
commands at every session start. So importing this package imports nothing else.
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
