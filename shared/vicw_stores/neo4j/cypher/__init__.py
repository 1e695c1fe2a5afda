"""All Cypher of VICW: constants, and pure builders that insert only labels and registered types.

Every value is bound. Every look-up names its label and an indexed property, so that no plan scans a label.
"""
