"""How people and programs ask: command line, agents' tools, HTTP. Nothing in here decides
anything.
"""
