"""The mirror: what is remembered as a folder of Markdown, to be read without any of our programs (seed 000).

Pure: ``atoms``, ``seeing``, ``naming``, ``paging``, ``wording``, ``rendering``. On disk: ``folder``, ``ledger``.
``mirroring`` brings them together.
"""
