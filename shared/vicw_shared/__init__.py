"""VICW's schema package: the model, the wire, the ports and their adapters.

Read in this order: ``model`` (what is stored), ``wire`` (requests and responses), ``ports`` (interfaces of the
engines), ``adapters`` (the engines). No use case lives here.
"""
