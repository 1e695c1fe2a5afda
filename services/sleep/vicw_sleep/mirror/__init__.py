"""The mirror: a tenant's memory as a folder of Markdown that needs no VICW program to read.

Pure: ``atoms``, ``visibility``, ``file_names``, ``markdown_escape``, ``renderer``. On disk: ``page_writer``,
``folder``, ``relocation``. ``service`` combines them; ``job`` runs it.
"""
