"""The record of changes, as a tenant reads it."""
