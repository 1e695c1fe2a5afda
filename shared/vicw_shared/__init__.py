"""VICW's schema package: the model, the wire, the ports and their adapters.

Read in this order: ``model`` (what is stored), ``wire`` (what is said), ``ports`` (what an engine must
do), ``adapters`` (the engines). No use case lives here.
"""
