"""The settings of scaling."""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field


def _address(pattern: str, problem: str) -> AfterValidator:
    def check(url: str) -> str:
        if url and not re.fullmatch(pattern, url):
            raise ValueError(problem)
        return url.rstrip("/")

    return AfterValidator(check)


ObjectsAddress = Annotated[
    str,
    _address(
        r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.=-]+)*/?",
        "this is not the address of a bucket; use the form s3://bucket/prefix",
    ),
]
EndpointAddress = Annotated[
    str,
    _address(
        r"https?://[^\s/?#]+(/[^\s?#]*)?",
        "this is not a server address; use the form http://127.0.0.1:8080 or "
        "https://gateway.example",
    ),
]
ChromaAddress = Annotated[
    str,
    _address(
        r"https?://(\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d{1,5})?/?",
        "this is not the address of a server; use the form http://127.0.0.1:8000, without a path",
    ),
]


class ScalingSettings(BaseModel):
    """Where the store, its vectors and its work are, beside the data folder and this process."""

    store: ObjectsAddress = Field(
        "",
        description="S3 address (s3://bucket/prefix) that holds the store; the data folder is "
        "then its cache. Needs `remote`.",
    )
    store_endpoint: EndpointAddress = Field("", description="Another server with the S3 API.")
    chroma: ChromaAddress = Field(
        "",
        description="Chroma server that holds the vectors of memories; empty: files of the store.",
    )
    workers: int = Field(
        1,
        ge=1,
        le=64,
        description="Processes that extract facts at once, each from days of its own.",
    )

    @property
    def shared_at(self) -> str:
        """Where the store is kept for several machines."""
        return self.store

    @property
    def needs_servers(self) -> bool:
        """Whether an update asks servers that hold a part of the store."""
        return bool(self.chroma or self.store)

    def of_folder(self) -> Self:
        """Returns the settings of a store that is in the data folder alone."""
        return self.model_copy(update={"store": ""})


def scaling(settings: object) -> ScalingSettings:
    """Returns the settings, which have those of scaling."""
    assert isinstance(settings, ScalingSettings)
    return settings
