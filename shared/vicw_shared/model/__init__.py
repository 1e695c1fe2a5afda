"""The stored data model: the Core-5 graph and its registries."""

from vicw_shared.model.collections import CollectionRegistry, NodeCollection
from vicw_shared.model.core5 import Edge, Label, Node, Sensitivity
from vicw_shared.model.edges import Category, EdgeRegistry, EdgeType, OnConsolidate

__all__ = [
    "Category",
    "CollectionRegistry",
    "Edge",
    "EdgeRegistry",
    "EdgeType",
    "Label",
    "Node",
    "NodeCollection",
    "OnConsolidate",
    "Sensitivity",
]
