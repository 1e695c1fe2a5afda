# Sourced by the scripts beside it: `compose`, and what pausing the writers means.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
WRITERS=(ingest ingest-worker sleep-worker sleep-beat)

compose() {
  docker compose ${VICW_ENV_FILE:+--env-file "$VICW_ENV_FILE"} "$@"
}

run_in() { # run a program of a service's image on the service's volumes, while the service itself is stopped
  local service=$1
  shift
  compose run --rm --no-deps -T --entrypoint "$1" "$service" "${@:2}"
}
