"""The settings of sharing."""

from pydantic import BaseModel

from memory_assets.schema.setting_types import (
    ALL_PROJECTS,
    OtherNames,
    ProjectNames,
    ServerAddress,
    setting,
)


class SharingSettings(BaseModel):
    """What a shared memory allows, and what this machine pushes to one."""

    writes_per_minute: int = setting(
        "Writes per minute of one token of a shared memory.", 30, ge=1, le=10_000
    )
    pushed_gb: float = setting(
        "Gigabytes of transcripts that each person may push to this store; 0: no limit.",
        5.0,
        ge=0,
        allow_inf_nan=False,
    )
    push_url: ServerAddress = setting(
        "Shared memory to which `memory data push` sends this machine's masked sessions.", ""
    )
    push_token: str = setting(
        "Token with the scope push for that server; better in MEMORY_PUSH_TOKEN.", "", repr=False
    )
    push_projects: ProjectNames = setting(
        "Projects that may be pushed; `*`: all, `!name`: not this one.",
        default_factory=lambda: [ALL_PROJECTS],
    )
    reviewers: dict[str, OtherNames] = setting(
        "Project → persons who may decide its proposals with a token; `*`: every project.",
        default_factory=dict,
    )


def sharing(settings: object) -> SharingSettings:
    """Returns the settings, which have those of sharing."""
    assert isinstance(settings, SharingSettings)
    return settings
