"""What a running service needs: HTTP face, telemetry, logs, queue, engines, job runs."""
