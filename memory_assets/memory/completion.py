"""What a shell completes from the present store."""

from memory_assets.services.search.completion import KINDS, find_words
