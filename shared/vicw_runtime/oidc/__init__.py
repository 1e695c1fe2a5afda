"""Bearer tokens (JWT) of an OpenID Connect issuer, as callers' credentials beside the keys."""
