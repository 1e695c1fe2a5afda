"""HTTP messages: the contract of the API."""
