#!/bin/sh
# Run once by docker-compose.yml, before everything else: makes what is missing, changes nothing that is there.
set -eu
umask 077
cd /volumes/secrets

secret() { # a random password in a file of its own; it appears whole or not at all
  [ -s "$1" ] || { od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > ".$1" && mv ".$1" "$1"; }
}

secret neo4j_password
secret qdrant_key
secret redis_password
secret embedding_key
secret grafana_password
# As Neo4j's image wants it.
printf 'neo4j/%s' "$(cat neo4j_password)" > .neo4j_auth && mv .neo4j_auth neo4j_auth
# Readable inside the containers that mount the volume, each of which has a user of its own.
chmod 0444 neo4j_password neo4j_auth qdrant_key redis_password embedding_key grafana_password
chmod 0755 .

# Who only looks on gets what that takes, and no engine's password besides.
for name in grafana_password qdrant_key embedding_key; do
  cp "$name" "/volumes/observers/.$name" && chmod 0444 "/volumes/observers/.$name"
  mv "/volumes/observers/.$name" "/volumes/observers/$name"
done
chmod 0755 /volumes/observers

own() { # leave what has its owner already: a large volume takes a while
  [ "$(stat -c %u "$2")" = "$1" ] || chown -R "$1:$1" "$2"
}

own 10002 /volumes/qdrant
own 10001 /volumes/models
own 10001 /volumes/imports
own 10001 /volumes/uploads
