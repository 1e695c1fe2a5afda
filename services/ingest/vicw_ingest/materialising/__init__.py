"""Parts of what builds the plan of a request: see ``vicw_ingest.plan.builder``."""
