"""The store on disk: settings, paths, archive, ledger and Parquet tables."""
