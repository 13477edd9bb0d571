#!/usr/bin/env bash
# All tests but the driver matrix: style, unit and property tests, then everything that needs a running server.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
python=$target/venv/bin/python
step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }

step format;  cargo fmt --all --check
step tidy;    cargo xtask tidy
step clippy;  cargo clippy --workspace --all-targets --quiet -- -D warnings
# No documentation has an example that runs.
step tests;   cargo test --workspace --lib --bins --tests --quiet
step interleavings; RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="$target/loom" cargo test --quiet -p txn -p buffer -p redo -p catalog --lib interleavings
step server;  cargo build --profile quick --bin iruka --quiet
binary=$target/quick/iruka
step instructions; cargo xtask instructions
step contention; cargo xtask contention
step sharing; cargo xtask sharing
step start;   unshare -m "$python" tests/start/run.py --binary "$binary"
step load;    "$python" tests/load/run.py --binary "$binary"
step sql;     "$python" tests/with_server.py --binary "$binary" -- "$python" tests/sql/run.py check --columns all --rounds 2 {target}
# Again with results kept at first sight: the second round is served what the first one computed.
"$python" tests/with_server.py --binary "$binary" --option=--query-cache-size=16M --option=--query-cache-compatibility=5.5 -- \
    "$python" tests/sql/run.py check --columns all --rounds 2 {target} tests/sql/{select,functions,views,json}/*.test
step staleness; cargo xtask staleness --statements 200_000
step results; "$python" tests/with_server.py --binary "$binary" -- "$python" tests/results/run.py {target}
step proxy;   "$python" tests/with_server.py --binary "$binary" -- "$python" tests/proxy/run.py check --binary "$binary" {target}
"$python" tests/proxy/tuningathon.py --binary "$binary"
step plan;    "$python" tests/with_server.py --binary "$binary" -- "$python" tests/plan/run.py check {target}
"$python" tests/with_server.py --binary "$binary" -- "$python" tests/plan/time.py {target} --slow 4
step queries; "$python" benches/queries/test_answers.py; "$python" benches/queries/test_clocks.py
"$python" tests/with_server.py --binary "$binary" -- "$python" benches/queries/run.py check {target}
step privileges; "$python" tests/with_server.py --binary "$binary" --option=--secure-file-priv= -- "$python" tests/privileges/run.py check {target}
step differential; "$python" tests/with_server.py --binary "$binary" -- "$python" tests/differential/run.py check {target}
step metamorphic; "$python" tests/with_server.py --binary "$binary" -- "$python" tests/differential/metamorphic.py {target} --count 2000
step rules;   cargo xtask metamorphic --count 500
step isolation; "$python" tests/isolation/test_checker.py
"$python" tests/isolation/run.py --binary "$binary" --kills --seconds 60
"$python" tests/with_server.py --binary "$binary" -- "$python" tests/isolation/phantoms.py {target} --seconds 12
step specs;     "$python" tests/with_server.py --binary "$binary" -- "$python" tests/specs/run.py check {target}
step clients; "$python" tests/with_server.py --binary "$binary" -- "$python" tests/clients/run.py {target}
step planted; "$python" tests/planted/run.py check
step coverage; "$python" tests/sql/functions/coverage.py --check
step kill;    "$python" tests/kill9/run.py --binary "$binary" --rounds 12 --full-disk 3 --damage 6 --seconds-max 1
step xa;      "$python" tests/xa/run.py --binary "$binary"
step foreign_keys; "$python" tests/with_server.py --binary "$binary" -- "$python" tests/foreign_keys/run.py {target} --statements 3000
"$python" tests/with_server.py --binary "$binary" -- "$python" tests/foreign_keys/crowd.py {target} --seconds 10
step chaos;   "$python" tests/chaos/run.py --binary "$binary" --seconds 24 --growth-max 1.25
step definitions; "$python" tests/definitions/run.py --binary "$binary" --seconds 12
step streaming; "$python" tests/streaming/run.py --binary "$binary"
step full_disk; unshare -m "$python" tests/full_disk/run.py "$binary"
step descriptors; "$python" tests/descriptors/run.py --binary "$binary"
step resources; "$python" tests/resources/run.py --binary "$binary" --brief
step done
