"""The settings of sharing."""

from pydantic import BaseModel, Field

from memory_assets.schema.setting_types import (
    ALL_PROJECTS,
    OtherNames,
    ProjectNames,
    ServerAddress,
)


class SharingSettings(BaseModel):
    """What a shared memory allows, and what this machine pushes to one."""

    writes_per_minute: int = Field(
        30, ge=1, le=10_000, description="Writes per minute of one token of a shared memory."
    )
    pushed_gb: float = Field(
        5.0,
        ge=0,
        allow_inf_nan=False,
        description="Gigabytes of transcripts that each person may push to this store; 0: no "
        "limit.",
    )
    push_url: ServerAddress = Field(
        "",
        description="Shared memory to which `memory data push` sends this machine's masked "
        "sessions.",
    )
    push_token: str = Field(
        "",
        repr=False,
        description="Token with the scope push for that server; better in MEMORY_PUSH_TOKEN.",
    )
    push_projects: ProjectNames = Field(
        default_factory=lambda: [ALL_PROJECTS],
        description="Projects that may be pushed; `*`: all, `!name`: not this one.",
    )
    reviewers: dict[str, OtherNames] = Field(
        default_factory=dict,
        description="Project → persons who may decide its proposals with a token; `*`: every "
        "project.",
    )


def sharing(settings: object) -> SharingSettings:
    """Returns the settings, which have those of sharing."""
    assert isinstance(settings, SharingSettings)
    return settings
