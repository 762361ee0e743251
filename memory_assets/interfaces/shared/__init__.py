"""A shared memory over HTTP: tokens, limits and the log of calls, between the guard and the
applications.
"""
