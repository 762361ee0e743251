"""The maintain stage: whether what is known is whole, fresh and true."""
