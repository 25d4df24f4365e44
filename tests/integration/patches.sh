#!/usr/bin/env bash
# Config patches: applied to a copy of the staged tree, counted, journalled, and a patch that does not fit blocks.
. tests/lib.sh
. tests/pipeline.sh

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
        {schema: "kernsweep.plan/1", ticket: "patches", node: $node, workdir: $work,
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

blocked() {
    exits "$1: the run is blocked" 3 ks_run "$TMPDIR/$2.json" --tag "$2"
    is "   as its summary says" "$(jq -r .status "$(bundle_of "$2")/summary.json")" BLOCKED
    like "   in one line" "$(jq -r .reason "$(bundle_of "$2")/summary.json")" "$3"
    like "   which the terminal shows" "$ERR" "^run BLOCKED.*$3"
    is "   nothing was built or timed" "$(jq -r .event "$(bundle_of "$2")/events.jsonl" | sort -u | xargs)" "$4"
}

limit='{file: "include/limits.h", pattern: "^(#define MAX_SEQ_LEN) +2048$", replacement: "\\1 16384"}'
tile='{file: "include/limits.h", pattern: "TILE 32", replacement: "TILE 64"}'

plan plain .
exits "without patches" 0 ks_run "$TMPDIR/plain.json" --tag plain
plan limit ".patches = [$limit] | .variants[1].patches = [$tile]"
exits "patches of the plan and of a variant" 0 ks_run "$TMPDIR/limit.json" --tag limit
first=$(bundle_of limit)
is "the plan's is seen by the first" "$(log_of "$first" a | sed 2q | xargs)" "#define MAX_SEQ_LEN 16384 #define TILE 32"
is "both by the second" "$(log_of "$first" b | sed 2q | xargs)" "#define MAX_SEQ_LEN 16384 #define TILE 64"
is "the journal has each, in order" "$(field "$first" '"\(.variant) \(.patch) \(.file) \(.count)"')" \
    $'a 1 include/limits.h 1\nb 1 include/limits.h 1\nb 2 include/limits.h 1'
is "with the hash before" "$(field "$first" .sha256_before | head -n 1)" "$(sha256sum <"$TREE/include/limits.h" | cut -d ' ' -f 1)"
is "and after: what the variants saw" "$(field "$first" .sha256_after | sed -n '1p;3p')" \
    "$(for v in a b; do log_of "$first" $v | sed 2q | sha256sum | cut -d ' ' -f 1; done)"
like "the terminal tells of them" "$ERR" 'include/limits.h: 1 replaced by patch 1 of a'
is "the user's file is as it was" "$(sed -n 1p "$TREE/include/limits.h")" "#define MAX_SEQ_LEN 2048"
is "so is the staged tree" "$(cat "$WORK"/src/*/include/limits.h | sed -n 1p)" "#define MAX_SEQ_LEN 2048"
is "a copy keeps its modes" "$(stat -c %a "$WORK"/patched/*/tool | sort -u)" 755

exits "compare says what was patched" 0 ks compare "$(bundle_of plain)" "$first" --fail-on none
like "   for each variant" "$OUT" 'patches\.b.*include/limits\.h: TILE 32 -> TILE 64'

exits "again" 0 ks_run "$TMPDIR/limit.json" --tag again
is "nothing is built again" "$(jq -r 'select(.event == "BUILD_END") | .status' "$(bundle_of again)/events.jsonl" | xargs)" "CACHED CACHED"
is "but all is journalled again" "$(field "$(bundle_of again)" .sha256_after)" "$(field "$first" .sha256_after)"
is "there are two copies" "$(find "$WORK/patched" -mindepth 1 -maxdepth 1 | wc -l)" 2
exits "without patches again" 0 ks_run "$TMPDIR/plain.json" --tag plain2
is "the unpatched build was kept apart" "$(log_of "$(bundle_of plain2)" a | sed -n 1p)" "#define MAX_SEQ_LEN 2048"

for copy in "$WORK"/patched/*/include/limits.h; do echo "#define MAX_SEQ_LEN 1" >"$copy"; done
rm -rf "$WORK/build"
exits "a copy that somebody changed" 0 ks_run "$TMPDIR/limit.json" --tag tampered
is "is made again" "$(log_of "$(bundle_of tampered)" b | sed 2q | xargs)" "#define MAX_SEQ_LEN 16384 #define TILE 64"

before='NODE SUITE_END SUITE_START'
plan twice ".patches = [{file: \"include/limits.h\", pattern: \"define\", replacement: \"undef\"}]"
blocked "two matches where one was expected" twice 'variant a, patch 1: include/limits.h: .define. matches 2 times, expected 1' "$before"
plan none ".patches = [$limit] | .variants[1].patches = [$limit]"
blocked "a patch that an earlier one has undone" none 'variant b, patch 2: .*matches 0 times, expected 1' "CONFIG_PATCH $before"
plan missing ".patches = [{file: \"include/nothing.h\", pattern: \"a\", replacement: \"b\"}]"
blocked "a file that is not there" missing 'include/nothing.h: cannot open.*No such file' "$before"
plan folder ".patches = [{file: \"include\", pattern: \"a\", replacement: \"b\"}]"
blocked "a folder" folder 'include: not a regular file' "$before"
is "nothing was copied for them" "$(find "$WORK/patched" -mindepth 1 -maxdepth 1 | wc -l)" 2
plan outside ".patches = [{file: \"../outside/limits.h\", pattern: \"2\", replacement: \"3\"}]"
exits "a file outside the tree is the plan's mistake" 2 ks_run "$TMPDIR/outside.json"
like "   at its place" "$ERR" 'outside.json: \$\.patches\[0\]\.file: .*below the source tree'

# A tree with links does not come from this harness: one that somebody else has staged.
. tests/executor.sh
ln -s include/limits.h "$TREE/link.h"
tar -c -C "$TREE" -f "$TMPDIR/tree.tar" include tool link.h away
sha=$(sha256sum <"$TMPDIR/tree.tar" | cut -d ' ' -f 1)
x stage --sha256 "$sha" <"$TMPDIR/tree.tar" >/dev/null
for file in link.h away/limits.h; do
    id=link-${file%%[./]*}
    job "$id" "$(one '{"run": ["true"]}' | jq -c --arg s "$sha" --arg f "$file" \
        '. + {source: {sha256: $s}} | .variants[0].patches = [{file: $f, pattern: "2048", replacement: "4096"}]')"
    run "$id"
    is "a symbolic link, $file: the run is blocked" "$(summary "$id" .status)" BLOCKED
    like "   in one line" "$(summary "$id" .reason)" "$file: a symbolic link"
done
is "what a link leads to is as it was" "$(cat "$TMPDIR/outside/limits.h")" 2048
jq '.job.variants[0].patches[0].file = "../../x"' "$TMPDIR/link-link.json" >"$TMPDIR/climbs.json"
x submit <"$TMPDIR/climbs.json" >/dev/null 2>"$TMPDIR/err"
is "a job whose patch climbs is refused" "$?" 2
like "   at its place" "$(cat "$TMPDIR/err")" '\$\.variants\[0\]\.patches\[0\]\.file'
done_testing
