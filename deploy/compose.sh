# Sourced by the scripts beside it: `compose`, and what pausing the writers means.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
WRITERS=(ingest ingest-worker sleep-worker sleep-beat)

compose() {
  local files=()
  if [[ -n ${VICW_ENV_FILE:-} ]]; then # Compose reads .env by itself only where no other file is named
    files=(--env-file "$VICW_ENV_FILE")
    [[ ! -f .env ]] || files+=(--env-file .env)
  fi
  docker compose "${files[@]}" "$@"
}

up() { # start what is named, as it was, and wait until it is healthy
  compose up -d --wait --no-recreate "$@"
}

up_all() { # the same of everything, as many of each as there were; Compose scales nothing that is not to start
  local service count scales=()
  for service in $(compose ps -a --services); do
    count=$(compose ps -aq "$service" | wc -l)
    ((count < 2)) || scales+=(--scale "$service=$count")
  done
  up "${scales[@]}" "$@"
}

run_in() { # run a program of a service's image on the service's volumes, while the service itself is stopped
  local service=$1
  shift
  compose run --rm --no-deps -T --entrypoint "$1" "$service" "${@:2}"
}
