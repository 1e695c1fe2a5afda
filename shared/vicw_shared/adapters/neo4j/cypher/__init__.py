"""All Cypher there is: constants, and pure builders that join labels and registered types only.

Every value is bound. Every look-up names its label and a property that has an index, so no plan scans.
"""
