"""HTTP messages: the binding contract (design: "The wire")."""
