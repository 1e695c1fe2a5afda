"""HTTP messages: the contract of the API (design: "The wire")."""
