"""Data classes of the read path: candidates, anchors, similarity, neighbourhoods."""
