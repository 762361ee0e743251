"""The endings by which the name of a file is recognised in prose."""

EXTENSIONS = (
    "go|pyi?|[cm]?[jt]sx?|rs|rb|java|kts?|swift|[ch]pp|cc|cs|php|scala|lua|exs?|mdx?|rst|adoc|txt"
    "|toml|ya?ml|jsonl?|lock|[bz]?a?sh|ps1|sql|html|s?css|vue|svelte|proto|cfg|ini|conf|mod|sum|xml"
    "|[ct]sv|parquet|ipynb|tf|tfvars|plist|service|log|zip|svg|png|jpe?g|gif|webp|mp[34]|mov|pdf|patch|diff|graphql|gradle"
    "|tmpl|env"
)
"""Alternatives of a regular expression."""
