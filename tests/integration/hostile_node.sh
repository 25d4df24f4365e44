#!/usr/bin/env bash
# What a hostile node, workload or plan can do to whoever runs the sweep: nothing, in one line, with nothing raw on the
# terminal.
# timeout: 300
. tests/lib.sh
. tests/pipeline.sh

pipeline_setup
REAL=$KERNSWEEP_EXECUTOR

# inert NAME TEXT: no control characters but newlines, not even as UTF-8.
inert() {
    is "$1" "$(tr -d '\n\t' <<<"$2" | LC_ALL=C tr -d '\040-\176\200-\377' | wc -c)" 0
    unlike "$1, C1 neither" "$2" $'\xc2[\x80-\x9f]'
}

# Everything that a workload, a compiler and a gate can say, in escape sequences.
cat >"$TMPDIR/evil" <<'END'
#!/bin/sh
evil() {
    printf '\033]0;pwned\007\033[2J\302\2331m\rgone'
}
case $1 in
skips) echo "SKIP: $(evil)"; exit 77 ;;
builds | gates) evil; echo; exit 1 ;;
impostor) printf '[PERF_TIMING] {"prefill_s": 1, "attn_impl": "\\u001b[2J\\u0007"}\n' ;;
esac
END
chmod 755 "$TMPDIR/evil"

escapes() {
    plan_with ".variants = [
        {name: \"skips\", run: [\"$TMPDIR/evil\", \"skips\"]},
        {name: \"builds\", build: [[\"$TMPDIR/evil\", \"builds\"]], run: [\"true\"]},
        {name: \"gates\", gates: [{kind: \"command\", run: [\"$TMPDIR/evil\", \"gates\"]}], run: [\"true\"]},
        {name: \"impostor\", attn_impl: \"k\", run: [\"$TMPDIR/evil\", \"impostor\"]}] | .contexts = [16] | del(.reference)" "$TMPDIR/evil.json"
    exits "a workload that talks in escape sequences" 1 ks_run "$TMPDIR/evil.json" --tag evil --fail-on failure
    inert "   run" "$OUT$ERR"
    like "   they are shown as what they are" "$OUT$ERR" 'x1b.*pwned'
    for command in "status" "show $(bundle_of evil)" "report $(bundle_of evil)" "runs"; do
        # shellcheck disable=SC2086 # words
        try ks $command
        inert "   ${command%% *}" "$OUT$ERR"
    done
}

# node_that COMMAND: the executor on the node, but for one of its commands, which is the script on stdin.
node_that() {
    {
        echo '#!/bin/sh'
        echo "[ \"\$1\" = $1 ] || exec '$REAL' \"\$@\""
        cat
    } >"$TMPDIR/executor"
    chmod 755 "$TMPDIR/executor"
    export KERNSWEEP_EXECUTOR=$TMPDIR/executor
}

# refused NAME CODE PATTERN: a run with that node ends so.
refused() {
    exits "$1: refused" "$2" ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag refused
    like "   it says why" "$ERR" "$3"
    inert "   with nothing raw" "$OUT$ERR"
    is "   and leaves nothing" "$(find "$TMPDIR/artifacts_remote" -path '*refused*' -type f | wc -l)" 0
    is "   nor outside" "$(find "$TMPDIR" -name 'pwned*' | wc -l)" 0
}

bundles() {
    mkdir -p "$TMPDIR/b/sub"
    echo '{}' >"$TMPDIR/b/manifest.json"
    echo x >"$TMPDIR/pwn"
    node_that pack <<<"tar -C '$TMPDIR' -cf - --transform 's,pwn,../pwned,' -P pwn"
    refused "a bundle that climbs" 3 '\.\./pwned.*not a plain relative path'
    node_that pack <<<"tar -C '$TMPDIR' -cf - --transform 's,pwn,/$TMPDIR/pwned,' -P pwn"
    refused "a bundle with an absolute path" 3 'not a plain relative path'
    ln -s / "$TMPDIR/b/link"
    node_that pack <<<"tar -C '$TMPDIR/b' -cf - ."
    refused "a bundle with a link" 3 'link.*neither a file nor a folder'
    rm "$TMPDIR/b/link"
    if mknod "$TMPDIR/b/null" c 1 3 2>/dev/null; then
        refused "a bundle with a device" 3 'null.*neither a file nor a folder'
        rm "$TMPDIR/b/null"
    else
        skip "a bundle with a device" "no devices can be made here"
    fi
    mkfifo "$TMPDIR/b/fifo"
    refused "a bundle with a pipe" 3 'fifo.*neither a file nor a folder'
    rm "$TMPDIR/b/fifo"
    truncate -s 3G "$TMPDIR/b/huge"
    refused "a bundle with a file above the limit" 3 'huge.*exceeds the limit'
    rm "$TMPDIR/b/huge"
    printf '\033[2J' >"$TMPDIR/b/$(printf 'x\033[2Jx')"
    refused "a bundle with a wild name" 3 'not a plain relative path'
    rm "$TMPDIR"/b/x*
    refused "a bundle whose manifest is no manifest" 2 'manifest.json'
    node_that pack <<<"head -c 5000 /dev/urandom"
    refused "a bundle that is noise" 3 'cut short|not a readable tar|not a tar stream'
}

answers() {
    node_that follow <<'END'
printf '{"seq":1,"event":"NODE","message":"\\u001b[2J\\u0007"}\n'
printf 'no json \033[2J\n'
END
    refused "a journal that is none" 3 'JSON'
    node_that follow <<'END'
yes '{"seq":1,"event":"NODE"' | tr -d '\n' | head -c 10000000
END
    refused "a journal whose line has no end" 3 'line|bytes'
    node_that probe <<'END'
printf '\033[2J'
exit 3
END
    refused "a probe that fails" 3 'probe failed'
    node_that probe <<<'head -c 40000000 /dev/zero'
    refused "an answer without end" 3 'longer than'
    node_that submit <<'END'
printf 'no: \033[2J\n' >&2
exit 3
END
    refused "a submit that says no" 3 'submit failed.*x1b'
}

# Names that a shell would love.
names() {
    local evil="w \$(touch pwned1) ; touch pwned2 '\" \`touch pwned3\`"
    export KERNSWEEP_EXECUTOR=$REAL
    jq --arg w "$TMPDIR/$evil" --arg e "$evil" '.workdir = $w | .env.EVIL = $e | .variants = [.variants[] | select(.name == "good")]
        | .variants[0].gates = [{kind: "command", run: ["test", $e, "=", $e]}]' "$TMPDIR/plan.json" >"$TMPDIR/names.json"
    exits "$1: names with quotes, \$(...), ; and blanks are names" 0 ks_run "$TMPDIR/names.json" --contexts 16 --tag "names-$1"
    is "   and run nothing" "$(find "$TMPDIR" "$HOME" . -maxdepth 2 -name 'pwned*' | wc -l)" 0
    is "   the workdir has that name" "$(find "$TMPDIR/$evil" -maxdepth 1 -name runs | wc -l)" 1
}

privacy() {
    passes "there is a bundle" test -s "$(bundle_of evil)/manifest.json"
    is "what was brought home is the owner's only" \
        "$(find "$(bundle_of evil)" \( -type f ! -perm 600 -o -type d ! -perm 700 \) | wc -l)" 0
    is "so is the store" "$(find "$TMPDIR" -maxdepth 1 -name 'results.db*' ! -perm 600 | wc -l)" 0
    is "and what is on the node" "$(find "$TMPDIR/work/runs" \( -type f ! -perm 600 -o -type d ! -perm 700 \) | wc -l)" 0
}

escapes
privacy
bundles
answers
names local
if node_start; then
    PLAN_NODE=loopback
    plan_with . "$TMPDIR/plan.json"
    for backend in libssh2 openssh; do
        KS_OPTIONS=(--ssh-config "$NODE/ssh_config" --transport "$backend")
        names "$backend"
    done
else
    skip "names over ssh" "no private sshd"
fi
done_testing
