"""Objects below a prefix of an S3 bucket: read, written, written only if nobody else did, deleted,
listed.

Credentials and region are found by obstore where AWS's own tools look first: `AWS_ACCESS_KEY_ID`,
`AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, a web identity, the role of a container
or of the machine. None is a setting. Writes with a condition need a server that honours `If-Match`
and `If-None-Match`, as Amazon S3 does.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from memory_assets.adapters.optional_packages import install_command
from memory_assets.errors import ObjectStoreError, SettingsError

CONNECT, ANSWER = "3s", "60s"
RETRIES: dict[str, Any] = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=2),
        "base": 2,
    },
}
AT_ONCE = 8
"""Requests of one process at a time."""

KEYS = (
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; of a profile, "
    "`aws configure export-credentials --profile NAME --format env` prints them."
)


class Unchanged:
    """The object still has the tag that was known."""


class S3Objects:
    """The objects of one store; thread-safe."""

    def __init__(self, url: str, endpoint: str = "") -> None:
        self.url, self._endpoint = url, endpoint
        self._bucket, _, self._prefix = url.removeprefix("s3://").partition("/")

    def get(self, key: str) -> bytes | None:
        """Returns the object; None where there is none."""
        found = self.get_changed(key, "")
        return None if found is None or isinstance(found, Unchanged) else found[0]

    def get_changed(self, key: str, known: str) -> tuple[bytes, str] | Unchanged | None:
        """Returns the object and its tag, unless it has the known tag; None where there is none."""
        obstore = self._library
        with self._errors():
            try:
                found = obstore.get(
                    self._store, key, options={"if_none_match": known} if known else None
                )
                return bytes(found.bytes()), str(found.meta["e_tag"])
            except obstore.exceptions.NotModifiedError:
                return Unchanged()
            except FileNotFoundError as error:
                if "<Code>NoSuchKey</Code>" not in str(error):  # no bucket, or no S3 server
                    raise
                return None

    def put(self, key: str, content: bytes) -> None:
        """Writes the object."""
        with self._errors():
            self._library.put(self._store, key, content)

    def replace(self, key: str, content: bytes, tag: str) -> str | None:
        """Writes the object if it still has the tag (empty: if there is none); returns its new tag,
        or None if it changed.
        """
        obstore = self._library
        with self._errors():
            try:
                return str(
                    obstore.put(
                        self._store, key, content, mode={"e_tag": tag} if tag else "create"
                    )["e_tag"]
                )
            except (obstore.exceptions.PreconditionError, obstore.exceptions.AlreadyExistsError):
                return None

    def delete(self, keys: Iterable[str]) -> None:
        """Deletes the objects; one that is gone already is no error."""
        names = list(keys)
        if names:
            with self._errors():
                self._library.delete(self._store, names)

    def list(self) -> Iterator[tuple[str, datetime]]:
        """Yields the key of each object, and when it was written."""
        with self._errors():
            for page in self._library.list(self._store):
                for one in page:
                    yield one["path"], one["last_modified"]

    @cached_property
    def _library(self) -> Any:
        try:
            import obstore
            import obstore.exceptions
            import obstore.store
        except ImportError:
            raise SettingsError(
                f"The store {self.url} needs obstore. Install it with "
                f"`{install_command('scaling')}`."
            ) from None
        return obstore

    @cached_property
    def _store(self) -> Any:
        options: dict[str, Any] = {"connect_timeout": CONNECT, "timeout": ANSWER}
        more: dict[str, Any] = {}
        if self._endpoint:
            more = {"endpoint": self._endpoint, "virtual_hosted_style_request": False}
            options["allow_http"] = self._endpoint.startswith("http://")
        with self._errors():
            return self._library.store.S3Store(
                self._bucket,
                prefix=self._prefix or None,
                client_options=options,
                retry_config=RETRIES,
                **more,
            )

    @contextmanager
    def _errors(self) -> Generator[None]:
        """Turns errors of the client into one line that says what to do."""
        exceptions = self._library.exceptions
        where = f"{self.url} at {self._endpoint}" if self._endpoint else self.url
        try:
            yield
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
            raise ObjectStoreError(
                f"The server refuses the credentials for {where}{_code(error)}. {KEYS}"
            ) from error
        except (exceptions.BaseError, FileNotFoundError, ValueError) as error:
            said = str(error)
            if "NoSuchBucket" in said:
                text = (
                    f"There is no bucket '{self._bucket}' for {where}. Create it, or change the "
                    "setting `store`."
                )
            elif any(
                word in said
                for word in ("169.254.", "metadata", "AccessKeyId", "SignatureDoesNotMatch")
            ):
                text = f"There are no valid credentials for {where}{_code(error)}. {KEYS}"
            elif "HTTP error" in said or "status code" in said:
                text = (
                    f"{where} does not answer{_code(error)}. Check the network, or the setting "
                    "`store_endpoint`."
                )
            else:
                text = (
                    f"{where} cannot be used: {said.splitlines()[0][:200]}. Check the settings "
                    "`store` and `store_endpoint`."
                )
            raise ObjectStoreError(text) from error


def _code(error: BaseException) -> str:
    """Returns the code that the server gave, or what the connection met, in brackets; empty where
    neither is known.
    """
    said = str(error)
    if "<Code>" in said:
        return f" ({said.partition('<Code>')[2].partition('</Code>')[0][:60]})"
    if "non-2xx status code: " in said:
        return f" ({said.partition('non-2xx status code: ')[2].partition(':')[0][:60]})"
    return ""
