"""Knowledge folders: pages, their links, and their bridges to memories."""
