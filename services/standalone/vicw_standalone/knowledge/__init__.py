"""Knowledge folders of this machine, kept in step with a server."""
