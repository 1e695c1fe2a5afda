"""What is said over HTTP: the binding contract (design: "The wire")."""
