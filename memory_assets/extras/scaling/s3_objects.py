"""Reads, writes, deletes and lists objects below a prefix of an S3 bucket.

Credentials and region are no settings. obstore finds them where AWS's own tools look first:
`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, a web identity, the
role of a container or of the machine. `replace` needs a server that honours `If-Match` and
`If-None-Match`, as Amazon S3 does.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from memory_assets.adapters.optional_packages import install_command
from memory_assets.errors import ObjectStoreError, SettingsError

CONNECT_TIMEOUT = "3s"
ANSWER_TIMEOUT = "60s"
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
"""Requests that one process sends in parallel."""

HELP = (
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; of a profile, "
    "`aws configure export-credentials --profile NAME --format env` prints them."
)


CREDENTIAL_ERRORS = ("169.254.", "metadata", "AccessKeyId", "SignatureDoesNotMatch")
"""Words in messages of obstore where credentials are missing or wrong. 169.254. is the address at
which a machine in AWS asks for its role.
"""


class Unchanged:
    """The answer of `get_changed` for an object that still has the caller's tag."""


class S3Objects:
    """The objects of one store; thread-safe."""

    def __init__(self, url: str, endpoint: str = "") -> None:
        self.url, self._endpoint = url, endpoint
        self._bucket, _, self._prefix = url.removeprefix("s3://").partition("/")

    def get(self, key: str) -> bytes | None:
        """Returns the object; None where there is none."""
        answer = self.get_changed(key, "")
        return None if answer is None or isinstance(answer, Unchanged) else answer[0]

    def get_changed(self, key: str, tag: str) -> tuple[bytes, str] | Unchanged | None:
        """Returns the object and its tag, `Unchanged` if it has the tag given; None where there is
        none.
        """
        obstore = self._library
        options = {"if_none_match": tag} if tag else None
        with self._errors():
            try:
                answer = obstore.get(self._store, key, options=options)
                return bytes(answer.bytes()), str(answer.meta["e_tag"])
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
        """Writes the object if it still has the tag (empty: if there is no object); returns its new
        tag, or None if somebody else changed it.
        """
        obstore = self._library
        mode = {"e_tag": tag} if tag else "create"
        with self._errors():
            try:
                return str(obstore.put(self._store, key, content, mode=mode)["e_tag"])
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
                for entry in page:
                    yield entry["path"], entry["last_modified"]

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
        options: dict[str, Any] = {
            "connect_timeout": CONNECT_TIMEOUT,
            "timeout": ANSWER_TIMEOUT,
        }
        address: dict[str, Any] = {}
        if self._endpoint:
            address = {"endpoint": self._endpoint, "virtual_hosted_style_request": False}
            options["allow_http"] = self._endpoint.startswith("http://")
        with self._errors():
            return self._library.store.S3Store(
                self._bucket,
                prefix=self._prefix or None,
                client_options=options,
                retry_config=RETRIES,
                **address,
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
                f"The server refuses the credentials for {where}{_code(error)}. {HELP}"
            ) from error
        except (exceptions.BaseError, FileNotFoundError, ValueError) as error:
            message = str(error)
            if "NoSuchBucket" in message:
                text = (
                    f"There is no bucket '{self._bucket}' for {where}. Create it, or change the "
                    "setting `store`."
                )
            elif any(sign in message for sign in CREDENTIAL_ERRORS):
                text = f"There are no valid credentials for {where}{_code(error)}. {HELP}"
            elif "HTTP error" in message or "status code" in message:
                text = (
                    f"{where} does not answer{_code(error)}. Check the network, or the setting "
                    "`store_endpoint`."
                )
            else:
                text = (
                    f"{where} cannot be used: {message.splitlines()[0][:200]}. Check the settings "
                    "`store` and `store_endpoint`."
                )
            raise ObjectStoreError(text) from error


def _code(error: BaseException) -> str:
    """Returns the error code of S3, or the HTTP status, in brackets; empty where the message has
    neither.
    """
    message = str(error)
    for start, end in (("<Code>", "</Code>"), ("non-2xx status code: ", ":")):
        if start in message:
            return f" ({message.partition(start)[2].partition(end)[0][:60]})"
    return ""
