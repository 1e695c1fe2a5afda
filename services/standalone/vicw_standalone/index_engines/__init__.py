"""Vector indexes of each engine with their embedders, as a change of the model needs them
(``vicw_sleep.reindex.port``).
"""
