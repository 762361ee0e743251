"""Scaling: several processes, Celery workers, a Chroma server, an S3 bucket, PostgreSQL."""

from memory_assets.schema.extras import Extra

EXTRA = Extra(
    name="scaling",
    settings="settings:ScalingSettings",
    commands={"config": "cli:app"},
    answers="cli:answer_types",
    shared_copy="opening:shared_copy_of",
    vectors="opening:vectors_of",
    before_update="opening:before_update",
    after_update="opening:after_update",
    before_days="opening:before_days",
    deep_checks="deep_checks:check_objects",
    files=("mirror.json",),
)
