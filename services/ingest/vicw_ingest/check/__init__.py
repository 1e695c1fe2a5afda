"""Check stage: what a request must fulfil before anything is done with it."""
