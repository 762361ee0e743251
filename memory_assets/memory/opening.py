"""Opens the store from which verbs answer, and lets them answer although files are damaged."""

from collections.abc import Callable
from functools import cached_property, partial, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from memory_assets.errors import StoreError
from memory_assets.schema.announcements import announce
from memory_assets.services.settings.which_store import is_sample, present_settings

if TYPE_CHECKING:
    from memory_assets.store.settings import Settings
    from memory_assets.store.store import Store


T = TypeVar("T")
P = ParamSpec("P")
Agent = TypeVar("Agent", bound="OpenStore")


def despite_damage(verb: Callable[Concatenate[Agent, P], T]) -> Callable[Concatenate[Agent, P], T]:
    """Makes the verb answer from the undamaged files if a damaged one makes it fail.

    A store in an object store is brought up to date first.
    """

    @wraps(verb)
    def ask(self: Agent, /, *arguments: P.args, **options: P.kwargs) -> T:
        if not self.exists:
            return verb(self, *arguments, **options)
        from memory_assets.store import damage

        self.follow_others()
        return damage.despite_damage(self.store, partial(verb, self, *arguments, **options))

    return ask


class OpenStore:
    """The store of the settings, by default the present one; opened when a verb needs it."""

    def __init__(self, settings: "Settings | None" = None) -> None:
        self.settings = settings or present_settings()

    @cached_property
    def store(self) -> "Store":
        """The open store; raises `StoreError` where no memory was built yet."""
        from memory_assets.store.store import open_store

        if not self.exists:
            missing = f"There is no memory in {self.settings.data} yet"
            raise StoreError(f"{missing}. Run `memory up` to take in transcripts.")
        return open_store(self.settings)

    @property
    def exists(self) -> bool:
        """Whether the store exists, here or in an object store."""
        return bool(self.settings.shared_at) or (self.settings.data / "VERSION").is_file()

    def follow_others(self) -> None:
        """Fetches what other machines changed in a shared store, and erases what they forgot."""
        if not self.settings.shared_at:
            return
        self.store.sync_if_older()
        if self.store.has_to_erase:
            from memory_assets.services.forget.erase import finish

            try:
                finish(self.store)
            except StoreError as error:  # the next question or run tries again
                what = f"What another machine forgot is not erased here yet: {error}"
                announce(what, about=str(self.store.root))

    @property
    def is_sample(self) -> bool:
        """Whether the store is the bundled sample's."""
        return is_sample(self.settings)

    def store_or_unopened(self) -> "Store":
        """Returns the store; if it is missing, an object for it without creating it on disk."""
        from memory_assets.store.store import Store

        return self.store if self.exists else Store(self.settings, self.settings.data)
