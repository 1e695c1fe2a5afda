"""The mirror: a tenant's memory as a folder of Markdown that needs no VICW program to read (seed 000).

Pure: ``atoms``, ``visibility``, ``file_names``, ``markdown_escape``, ``renderer``. On disk: ``page_writer``,
``folder``, ``relocation``. ``service`` combines them; ``job`` runs it.
"""
