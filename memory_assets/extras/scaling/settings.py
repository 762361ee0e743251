"""The settings of scaling."""

from typing import Annotated, Self

from pydantic import BaseModel, Field

from memory_assets.schema.setting_types import ServerAddress, matching

ObjectsAddress = Annotated[
    str,
    matching(
        r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.=-]+)*/?",
        "the address of a bucket; use the form s3://bucket/prefix",
    ),
]
ChromaAddress = Annotated[
    str,
    matching(
        r"https?://(\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d{1,5})?/?",
        "the address of a server; use the form http://127.0.0.1:8000, without a path",
    ),
]


class ScalingSettings(BaseModel):
    """Where the store and its vectors are, if not in the data folder; how many processes work."""

    store: ObjectsAddress = Field(
        "",
        description="S3 address (s3://bucket/prefix) that holds the store; the data folder is "
        "then its cache. Needs `remote`.",
    )
    store_endpoint: ServerAddress = Field("", description="Another server with the S3 API.")
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
        """The address at which several machines share the store; empty if they share none."""
        return self.store

    @property
    def needs_servers(self) -> bool:
        """Whether an update asks servers that hold a part of the store."""
        return bool(self.chroma or self.store)

    def of_folder(self) -> Self:
        """Returns these settings without the shared copy: the store is the data folder alone."""
        return self.model_copy(update={"store": ""})


def scaling(settings: object) -> ScalingSettings:
    """Returns the settings with the fields of scaling, which they always have."""
    assert isinstance(settings, ScalingSettings)
    return settings
