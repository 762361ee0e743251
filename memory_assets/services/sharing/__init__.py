"""A shared memory: what a person who asks with a token may read, and what they may change."""
