"""The interfaces for people and programs: the command line, agents' tools, HTTP.

They call the facade (`MemoryAgent` and the modules of `memory`), and decide nothing themselves.
"""
