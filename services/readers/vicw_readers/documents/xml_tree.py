"""XML without what it can do to its reader: no entities of its own, nothing fetched, no namespaces to keep apart."""

from __future__ import annotations

from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from vicw_readers.records import UnreadableFileError

_PARTED = "}"


def parse_xml(data: bytes) -> Element:
    """Return the root of a document; names of elements are without namespace, those of attributes ``uri}name``.

    Raises UnreadableFileError if it is broken, or declares entities.
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator=_PARTED)
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: builder.start(name.rpartition(_PARTED)[2], attributes)
    parser.EndElementHandler = lambda name: builder.end(name.rpartition(_PARTED)[2])
    parser.CharacterDataHandler = builder.data
    forbid_entities(parser)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UnreadableFileError(f"has broken XML inside: {error}") from None
    return builder.close()


def forbid_entities(parser: expat.XMLParserType) -> None:
    """Have a parser raise UnreadableFileError at the declaration of an entity."""
    parser.EntityDeclHandler = _refuse


def _refuse(*_: object) -> NoReturn:
    raise UnreadableFileError("declares XML entities, which no document needs and which can expand without end")
