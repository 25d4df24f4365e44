#!/usr/bin/env bash
# The kernels' own tests on the CPU device layer: every variant against fp64, threads in both orders.
# timeout: 1800
. tests/lib.sh
. tests/kernels.sh

# Sanitizers look for wild accesses: those depend on how the last tile is filled, not on the order of threads.
settings=()
case $BUILD in */sanitize) settings=("SANITIZE=address,undefined" ORDERS=forward) && export SEQS="1 33 129" ;; esac
log=$TMPDIR/check.log
rc=0
make -C kernels check PLATFORM=cpu WERROR=1 V=1 CXX="$KERNELS_CXX" BUILD="$BUILD/kernels/cpu" "${settings[@]}" >"$log" 2>&1 || rc=$?

# Its lines are TAP; the rest of its output is shown when something failed. TESTS_ONLY reaches the programs by itself.
awk '/^(not )?ok/ { sub(/ok [0-9]*/, "ok " ++n); print }' "$log"
TESTS=$(grep -cE '^(not )?ok' "$log")
ok "make -C kernels check exits 0" "$rc" "$(grep -vE '^ok' "$log" | tail -n 40)"
done_testing
