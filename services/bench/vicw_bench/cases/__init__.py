"""Cases: small inputs with their right answers, replayed over HTTP."""
