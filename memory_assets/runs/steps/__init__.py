"""The build functions of all tables and files, in one module for each stage.

Each has the name of its table (`schema.tables`). It reads the store and calls one function of a
stage. It returns rows, or writes files and returns a report (`runs.results`).
"""
