"""Reads files of documents (PDF, EPUB, HTML, Markdown, DOCX, text) in a process of its own, with
limited time and memory.
"""
