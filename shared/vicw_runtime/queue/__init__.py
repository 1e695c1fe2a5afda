"""Celery, behind the ports of queues."""
