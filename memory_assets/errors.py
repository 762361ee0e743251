"""Every way in which memory_assets fails, as one tree.

    MemoryAssetsError
    ├── SettingsError       a setting cannot be used as it is
    ├── StoreError          the store cannot be opened, read or written
    │   ├── StoreBusyError      another process is writing
    │   ├── StoreVersionError   the store was written by a newer release
    │   ├── DamagedError        a derived file is not as it was written
    │   ├── ObjectStoreError    the object store that holds the store cannot be reached or read
    │   ├── UnknownBranchError  there is no branch of that name
    │   └── TableError          a table's rows do not fit its schema
    │       └── UnknownTableError   there is no table of that name
    ├── TranscriptError     a transcript or its archived bytes cannot be read
    ├── ModelError          the observer, the reflector or the embedder cannot answer
    │   ├── ModelSetupError     wrong key, unknown model or address: asking again cannot help
    │   │   └── ModelLimitError     a usage limit is reached: wait for its reset
    │   ├── ModelBusyError      overloaded, rate-limited or unreachable: asking later may help
    │   │   └── ModelSilentError    the question was sent, and nothing came back in time
    │   └── ModelRequestError   this one question cannot be asked as it is
    ├── TaskListError       a person's list of tasks cannot be read or written
    ├── IndexFailedError    a projection (vectors, texts) cannot be read or built
    ├── QuestionError       a question, its filters or its profile cannot be used
    ├── LedgerError         the ledger holds a line that cannot be understood
    ├── LabelsError         labelled sessions, or facts to compare with, cannot be used
    ├── HooksError          the settings of a harness cannot be edited
    │   └── NotOursError        a file or entry that we would replace is not ours, and stays
    ├── ReviewError         a decision about a proposal cannot be carried out
    │   └── UnknownIdError      nothing has the given id or name
    ├── NoteError           something cannot be remembered, corrected or forgotten as it was said
    │   ├── UnknownMemoryError  there is no such memory
    │   └── MemoryGoneError     the memory was replaced or forgotten already
    ├── DocumentError       a document cannot be added to the library
    │   ├── UnknownDocumentError    no document has the given name, or several have it
    │   └── FetchError          an address or a repository must not be fetched, or cannot be
    └── AccessError         a shared memory refuses a request, or cannot be reached
        ├── TokenError          there is no token, or it is wrong or revoked
        ├── ScopeError          the token may not do this
        ├── TooManyWritesError  the token wrote too much within a minute
        ├── PushError           pushed bytes contradict their description or the server's copy
        │   └── QuotaError          the person has as much on the server as its setting allows
        └── UnreachableError    the server does not answer, or too many requests wait there

A message says what happened, where, and what to do about it. Expected outcomes (a discarded fact, a
torn last line) are rows with a reason and never exceptions.
"""

from collections.abc import Iterator


class MemoryAssetsError(Exception):
    """The base of all errors that a person is meant to read."""


class SettingsError(MemoryAssetsError):
    """A setting cannot be used as it is."""


class StoreError(MemoryAssetsError):
    """The store cannot be opened, read or written."""


class StoreBusyError(StoreError):
    """Another process holds the store's write lock."""


class StoreVersionError(StoreError):
    """The store was written by a newer release than this one."""


class DamagedError(StoreError):
    """A file that can be rebuilt is not as it was written."""


class ObjectStoreError(StoreError):
    """The object store that holds the store cannot be reached or read, or refuses the
    credentials.
    """


class UnknownBranchError(StoreError):
    """There is no branch of that name."""


class TableError(StoreError):
    """Rows do not fit the schema of their table."""


class UnknownTableError(TableError):
    """There is no table of that name."""


class TranscriptError(MemoryAssetsError):
    """A transcript, or the archived bytes of one, cannot be read."""


class ModelError(MemoryAssetsError):
    """A model cannot be found, loaded or asked."""


class ModelSetupError(ModelError):
    """The model cannot be asked at all as the settings stand: wrong key, unknown name, wrong
    address, no credit.
    """


class ModelLimitError(ModelSetupError):
    """The usage limit of a subscription is reached."""


class ModelBusyError(ModelError):
    """The model did not answer in time, or asks us to wait before the next question."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ModelSilentError(ModelBusyError):
    """The model took the question and sent nothing for too long. It counts as an attempt."""


class ModelRequestError(ModelError):
    """One question was refused as malformed or too large; others may go through."""


class TaskListError(MemoryAssetsError):
    """A person's list of tasks cannot be opened, read or written."""


class IndexFailedError(MemoryAssetsError):
    """A projection of the tables cannot be read or built."""


class QuestionError(MemoryAssetsError):
    """A question, its filters or its profile cannot be used as they are."""


class LedgerError(MemoryAssetsError):
    """The ledger holds a line that cannot be understood."""


class LabelsError(MemoryAssetsError):
    """Labelled sessions, or facts to compare with them, cannot be used."""


class HooksError(MemoryAssetsError):
    """The settings of a harness cannot be edited as they are."""


class NotOursError(HooksError):
    """A file or entry that we would replace was not written by us, and stays."""


class ReviewError(MemoryAssetsError):
    """A decision about a proposal cannot be carried out."""


class UnknownIdError(ReviewError):
    """Nothing has the given id or name."""


class NoteError(MemoryAssetsError):
    """A fact cannot be remembered, corrected or forgotten with the given words."""


class UnknownMemoryError(NoteError):
    """There is no memory of that id, or none that holds those words."""


class MemoryGoneError(NoteError):
    """The memory was replaced or forgotten already."""


class DocumentError(MemoryAssetsError):
    """A document cannot be read, or cannot be added to the library."""


class UnknownDocumentError(DocumentError):
    """No document of the library has the given name, or several have it."""


class FetchError(DocumentError):
    """An address of the web or a repository must not be fetched, or cannot be."""


class AccessError(MemoryAssetsError):
    """A shared memory refuses a request, or cannot be reached."""


class TokenError(AccessError):
    """There is no token, or it is wrong or revoked."""


class ScopeError(AccessError):
    """The token may not do this."""


class TooManyWritesError(AccessError):
    """The token wrote too much within a minute."""


class PushError(AccessError):
    """Pushed bytes do not continue what the server has, or differ from their own description."""


class QuotaError(PushError):
    """The person has as much on the server as its setting allows."""


class UnreachableError(AccessError):
    """The server of a shared memory does not answer, or too many requests wait there."""


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yields the error, the one that led to it, and so on to the first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
