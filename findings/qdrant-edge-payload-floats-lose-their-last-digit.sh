#!/usr/bin/env bash
# qdrant-edge-py 0.9.0, payloads of points.
#
# Expected: a payload comes back as it was stored; a double in JSON has a shortest form that every reader maps back to
# the same double.
# Seen: about one float in nine comes back with another last bit (0.9452706955539223 as 0.9452706955539224), each time
# that it is written. Whoever compares a payload with the record that it was made from must allow for that, and copying
# points from shard to shard changes them again. Integers and strings come back unchanged.
#
# Needs python3 (3.10 to 3.13) and PyPI. Fails if the behaviour changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check qdrant-edge-py==0.9.0

cat >"$work/floats.py" <<'PY'
"""Store floats as payload, read them back."""
import random, sys, uuid

from qdrant_edge import Distance, EdgeConfig, EdgeShard, EdgeVectorParams, Point, UpdateOperation

random.seed(1)
values = {str(uuid.UUID(int=n + 1)): random.random() for n in range(2000)}
shard = EdgeShard.create(sys.argv[1], EdgeConfig(EdgeVectorParams(size=4, distance=Distance.Cosine)))
shard.update(
    UpdateOperation.upsert_points([Point(uid, [1.0, 0.0, 0.0, 0.0], {"f": value, "n": 7}) for uid, value in values.items()])
)
records = {str(one.id): one.payload for one in shard.retrieve(list(values), True, False)}
changed = {uid: records[uid]["f"] for uid in values if records[uid]["f"] != values[uid]}
apart = max(abs(now - values[uid]) / values[uid] for uid, now in changed.items()) if changed else 0.0
whole = all(record["n"] == 7 for record in records.values())
print(f"{len(changed)} of {len(values)} floats changed, by at most {apart:.1e} of themselves; integers are whole: {whole}")
shard.close()
sys.exit(not (len(values) // 20 < len(changed) < len(values) and apart < 1e-14 and whole))
PY
mkdir "$work/shard"
if "$work/venv/bin/python" "$work/floats.py" "$work/shard"; then
  echo "as described: qdrant-edge-py 0.9.0 changes the last bit of floats in payloads"
else
  echo "the behaviour has changed" >&2
  exit 1
fi
