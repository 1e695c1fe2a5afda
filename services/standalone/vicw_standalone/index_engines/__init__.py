"""Vector indexes of each engine, as a change of the model needs them (``vicw_sleep.reindex.port``)."""
