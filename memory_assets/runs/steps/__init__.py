"""The build functions of all tables and files, one module for each stage; `schema.tables` names them.

They read the store, call one function of a stage, and return its rows, or write files and return a report.
"""
