"""Examples of the messages, which the OpenAPI document shows. All of them tell one story (``story``)."""
