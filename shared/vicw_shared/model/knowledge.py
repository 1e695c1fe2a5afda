"""Knowledge sub-graph: pages of knowledge folders as nodes that outlive the versions of their items.

The item of a page has the text and the versions, and searches find it; it mentions its page node, which has the links.
The page node, its sections and its folders are named nodes: Entities without an item's content, distinguished from
others by their metadata.
"""

from __future__ import annotations

from vicw_shared.model.core5 import Node
from vicw_shared.uids import make_uid, named_uid

PAGE, FILE, SECTION, FOLDER = "page", "file", "section", "folder"
ROOT_ALIAS = "knowledge folder"
"""Alias of all knowledge folders of a tenant: if a look-up finds none, there is nothing to bridge to."""
BRIDGES = ("DESCRIBES", "IMPLEMENTS", "GOVERNS")
BRIDGE_RULES = "bridge:"
"""Prefix of ``created_by`` of edges between knowledge and memories."""


def is_knowledge(node: Node) -> bool:
    """Return whether a node is a page, a code file, a section or a folder of a knowledge folder."""
    return node.content_hash is None and "folder" in node.metadata


def page_uid(tenant: str, context: str, item_id: str) -> str:
    """Return the uid of an item's page node: the same for all versions, even if the file is moved."""
    return make_uid(tenant, context, "page", item_id)


def section_uid(page: str, anchor: str) -> str:
    """Return the uid of a page's section."""
    return make_uid(page, "section", anchor)


def folder_uid(tenant: str, context: str, folder: str, path: str) -> str:
    """Return the uid of a folder; the ``path`` of the knowledge folder itself is empty."""
    return named_uid(tenant, context, FOLDER, folder_name(folder, path))


def folder_name(folder: str, path: str) -> str:
    """Return the name of a folder: the knowledge folder's path, then its own, with a trailing slash."""
    return f"{folder}/{path}/" if path else f"{folder}/"
