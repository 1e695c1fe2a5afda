"""The graph channel: items reached from the hits of the other channels."""
