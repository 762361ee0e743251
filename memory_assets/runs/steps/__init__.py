"""The build functions of all tables and files, one module for each stage; `schema.tables` names
them.

Each reads the store and calls one function of a stage; it returns rows, or writes files and returns
a report.
"""
