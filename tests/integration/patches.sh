#!/usr/bin/env bash
# Config patches: applied to a copy of the staged tree, counted, journalled, and a patch that does not fit blocks.
. tests/lib.sh
. tests/pipeline.sh
. tests/executor.sh

WORK=$TMPDIR/work
TREE=$TMPDIR/tree
mkdir -p "$TREE/include" "$TMPDIR/outside"
printf '#define MAX_SEQ_LEN 2048\n#define TILE 32\n' >"$TREE/include/limits.h"
printf '#!/bin/sh\necho other\n' >"$TREE/tool"
chmod 755 "$TREE/tool"
ln -s ../outside "$TREE/away" 2>/dev/null
echo "2048" >"$TMPDIR/outside/limits.h"

# plan NAME FILTER: a plan with two variants that tell what they see of the sources.
plan() {
    jq -n --arg node "$PLAN_NODE" --arg work "$WORK" --arg dir "$TREE" '
        {schema: "kernsweep.plan/1", clock: "simulated", ticket: "patches", node: $node, workdir: $work,
         source: {dir: $dir, include: ["include", "tool"]},
         variants: [{name: "a", build: [["cp", "{src}/include/limits.h", "{build}/seen"]],
                     run: ["sh", "-c", "cat \"$1\"/seen; [ -x \"$2\"/tool ] && echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1}\"", "sh", "{build}", "{src}"]}],
         contexts: [16], timeouts: {default: 60}} | .variants += [.variants[0] + {name: "b"}] | '"$2" >"$TMPDIR/$1.json"
}

log_of() {
    cat "$1/$2/ctx_16_run1/run.log"
}

field() {
    jq -r "select(.event == \"CONFIG_PATCH\") | $2" "$1/events.jsonl"
}

LIMIT='{file: "include/limits.h", pattern: "^(#define MAX_SEQ_LEN) +2048$", replacement: "\\1 16384"}'
TILE='{file: "include/limits.h", pattern: "TILE 32", replacement: "TILE 64"}'

# The sweeps that scenarios share: without patches; and with one of the plan and one of the second variant.
plain_sweep() {
    plan plain .
    try_once plain ks_run "$TMPDIR/plain.json" --tag plain
}

patched_sweep() {
    plan limit ".patches = [$LIMIT] | .variants[1].patches = [$TILE]"
    try_once limit ks_run "$TMPDIR/limit.json" --tag limit
    patched=$(bundle_of limit)
}

# seen_by BUNDLE VARIANT: the two lines of the patched file
seen_by() {
    log_of "$1" "$2" | sed 2q
}

applied() {
    patched_sweep
    exited "exits 0" 0
    is "the plan's patch is in what the first variant sees" "$(seen_by "$patched" a | xargs)" "#define MAX_SEQ_LEN 16384 #define TILE 32"
    is "both patches are in what the second variant sees" "$(seen_by "$patched" b | xargs)" "#define MAX_SEQ_LEN 16384 #define TILE 64"
    like "the terminal has a line for each patch" "$ERR" 'include/limits.h: 1 replaced by patch 1 of a'
    is "the user's file is unchanged" "$(sed -n 1p "$TREE/include/limits.h")" "#define MAX_SEQ_LEN 2048"
    is "the staged tree is unchanged" "$(cat "$WORK"/src/*/include/limits.h | sed -n 1p)" "#define MAX_SEQ_LEN 2048"
    is "the patched copies keep what may be executed" "$(stat -c %a "$WORK"/patched/*/tool | sort -u)" 555
}

journal() {
    patched_sweep
    is "each patch has an event, in order" "$(field "$patched" '"\(.variant) \(.patch) \(.file) \(.count)"')" \
        $'a 1 include/limits.h 1\nb 1 include/limits.h 1\nb 2 include/limits.h 1'
    is "the event has the file's hash before" "$(field "$patched" .sha256_before | head -n 1)" "$(sha256sum <"$TREE/include/limits.h" | cut -d ' ' -f 1)"
    is "the event has the hash of what the variant saw" "$(field "$patched" .sha256_after | sed -n '1p;3p')" \
        "$(for v in a b; do seen_by "$patched" $v | sha256sum | cut -d ' ' -f 1; done)"
}

compared() {
    plain_sweep
    exited "the sweep without patches exits 0" 0
    patched_sweep
    exits "compare exits 0" 0 ks compare "$(bundle_of plain)" "$patched" --fail-on none
    like "compare lists the patches of each variant" "$OUT" 'patches\.b.*include/limits\.h: TILE 32 -> TILE 64'
}

again() {
    patched_sweep
    exits "exits 0" 0 ks_run "$TMPDIR/limit.json" --tag again
    is "the builds are CACHED" "$(jq -r 'select(.event == "BUILD_END") | .status' "$(bundle_of again)/events.jsonl" | xargs)" "CACHED CACHED"
    is "the journal has the same hashes" "$(field "$(bundle_of again)" .sha256_after)" "$(field "$patched" .sha256_after)"
    is "no further copy of the sources is made" "$(find "$WORK/patched" -mindepth 1 -maxdepth 1 | wc -l)" 2
}

without_after() {
    patched_sweep
    plan plain .
    exits "exits 0" 0 ks_run "$TMPDIR/plain.json" --tag plain2
    is "it does not take the patched build" "$(log_of "$(bundle_of plain2)" a | sed -n 1p)" "#define MAX_SEQ_LEN 2048"
}

tampered() {
    local copy
    patched_sweep
    for copy in "$WORK"/patched/*/include/limits.h; do echo "#define MAX_SEQ_LEN 1" >"$copy"; done
    rm -rf "$WORK/build"
    exits "the next sweep exits 0" 0 ks_run "$TMPDIR/limit.json" --tag tampered
    is "the next sweep makes it again" "$(seen_by "$(bundle_of tampered)" b | xargs)" "#define MAX_SEQ_LEN 16384 #define TILE 64"
}

# blocked PATCHES REASON EVENTS: a run of a plan with those patches; EVENTS is all that its journal has.
blocked() {
    local id=blocked-$TESTS copies
    patched_sweep
    copies=$(find "$WORK/patched" -mindepth 1 -maxdepth 1 | wc -l)
    plan "$id" "$1"
    exits "the run exits 3" 3 ks_run "$TMPDIR/$id.json" --tag "$id"
    is "the run is BLOCKED" "$(jq -r .status "$(bundle_of "$id")/summary.json")" BLOCKED
    like "the summary has the reason" "$(jq -r .reason "$(bundle_of "$id")/summary.json")" "$2"
    like "the terminal has the reason in one line" "$ERR" "^run BLOCKED.*$2"
    is "nothing is built or timed" "$(jq -r .event "$(bundle_of "$id")/events.jsonl" | sort -u | xargs)" "$3"
    is "no copy of the sources is left" "$(find "$WORK/patched" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" "$copies"
}

outside() {
    plan outside ".patches = [{file: \"../outside/limits.h\", pattern: \"2\", replacement: \"3\"}]"
    exits "the plan is refused with exit 2" 2 ks_run "$TMPDIR/outside.json"
    like "the error names the place in the plan" "$ERR" 'outside.json:[0-9]+:[0-9]+: \$\.patches\[0\]\.file: .*below the source tree'
}

# A tree with links does not come from this harness: one that somebody else has staged.
staged_links() {
    ln -s include/limits.h "$TREE/link.h"
    tar -c -C "$TREE" -f "$TMPDIR/tree.tar" include tool link.h away
    rm "$TREE/link.h"
    SHA=$(sha256sum <"$TMPDIR/tree.tar" | cut -d ' ' -f 1)
    x stage --sha256 "$SHA" <"$TMPDIR/tree.tar" >/dev/null
}

# link_job ID FILE: a job on that tree with a patch for the file.
link_job() {
    job "$1" "$(one '{"run": ["true"]}' | jq -c --arg s "$SHA" --arg f "$2" \
        '. + {source: {sha256: $s}} | .variants[0].patches = [{file: $f, pattern: "2048", replacement: "4096"}]')"
}

patched_link() {
    local id=link-$TESTS
    needs staged_links
    link_job "$id" "$1"
    run "$id"
    is "the run is BLOCKED" "$(summary "$id" .status)" BLOCKED
    like "the reason names the link" "$(summary "$id" .reason)" "$1: a symbolic link"
    is "the link's target is unchanged" "$(cat "$TMPDIR/outside/limits.h")" 2048
}

climbing_job() {
    needs staged_links
    link_job climbs ../../x
    x submit <"$TMPDIR/climbs.json" >/dev/null 2>"$TMPDIR/err"
    is "submit refuses it with exit 2" "$?" 2
    like "the error names the place in the job" "$(cat "$TMPDIR/err")" '\$\.variants\[0\]\.patches\[0\]\.file'
}

scenario "a sweep with patches of the plan and of a variant" applied
scenario "the journal of a sweep with patches" journal
scenario "compare of a run with patches and one without" compared
scenario "a second sweep with the same patches" again
scenario "a sweep without patches after one with them" without_after
scenario "a patched copy that somebody has changed" tampered
before='NODE SUITE_END SUITE_START'
scenario "a patch that matches twice" blocked '.patches = [{file: "include/limits.h", pattern: "define", replacement: "undef"}]' \
    'variant a, patch 1: include/limits.h: .define. matches 2 times, expected 1' "$before"
scenario "a patch of a text that an earlier patch has replaced" blocked ".patches = [$LIMIT] | .variants[1].patches = [$LIMIT]" \
    'variant b, patch 2: .*matches 0 times, expected 1' "CONFIG_PATCH $before"
scenario "a patch of a file that does not exist" blocked '.patches = [{file: "include/nothing.h", pattern: "a", replacement: "b"}]' \
    'include/nothing.h: cannot open.*No such file' "$before"
scenario "a patch of a folder" blocked '.patches = [{file: "include", pattern: "a", replacement: "b"}]' \
    'include: not a regular file' "$before"
scenario "a patch of a file outside the tree" outside
scenario "a patch of a symbolic link" patched_link link.h
scenario "a patch of a file behind a symbolic link" patched_link away/limits.h
scenario "a job with a patch that climbs" climbing_job
done_testing
