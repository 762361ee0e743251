"""What Dagster sees of the pipeline: assets, their checks, and what starts runs."""
