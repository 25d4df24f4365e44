#!/usr/bin/env bash
# docs/tutorial.md as somebody follows it: every shell block is run as it is written, in order, in one shell's folder and home;
# "gpu-node" is a private sshd. Building in the checkout is left to scripts/check-tutorial.
# unsanitized: what its commands run is run by other tests, and they take the time of real programs
. tests/lib.sh

blocks=$TMPDIR/blocks

# In a shell of its own that ends at the first command that fails, and goes on in the folder where the one before stopped.
block() {
    local at
    at=$(cat "$TMPDIR/where" 2>/dev/null || echo "$HOME")
    # shellcheck disable=SC2016 # for the shell
    (cd "$at" && PATH="$TMPDIR/bin:$PATH" bash -e -c '. "$0"; pwd >"$1"' "$1" "$TMPDIR/where")
}

# ssh reads the configuration of the account, whatever HOME is, so each command is given that of the private sshd.
gpu_node() {
    mkdir -p "$TMPDIR/bin"
    node_start || return 1
    sed 's/^Host loopback/Host gpu-node/' "$NODE/ssh_config" >"$TMPDIR/ssh_config"
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/bash\nexec %q "$1" --ssh-config %q "${@:2}"\n' "$KERNSWEEP" "$TMPDIR/ssh_config" >"$TMPDIR/bin/kernsweep"
    chmod +x "$TMPDIR/bin/kernsweep"
}

follow() {
    local file name pattern
    needs gpu_node
    scripts/tutorial-blocks "$blocks"
    is "it has blocks to run" "$(($(find "$blocks" -name '*.sh' | wc -l) >= 8))" 1
    for file in "$blocks"/*.sh; do
        name=${file%.sh}
        [ ! -e "$name.checkout" ] || continue
        exits "block ${name##*/} ($(head -n 1 "$file" | cut -c 1-50))" "$(cat "$name.exits")" block "$file"
        while IFS= read -r pattern; do
            like "block ${name##*/} prints" "$OUT" "$pattern"
        done <"$name.prints"
    done
}

first_commands() {
    scripts/tutorial-blocks "$blocks"
    like "the block for the checkout installs the group \"build\" and runs make" "$(cat "$blocks"/*.checkout "$blocks/01.sh" | xargs)" \
        'scripts/install-deps build .* make -j'
    is "it is the only one" "$(find "$blocks" -name '*.checkout' | wc -l)" 1
}

failing_block() {
    needs gpu_node
    printf 'false\ntrue\n' >"$TMPDIR/failing.sh"
    exits "a block fails with its first command that fails" 1 block "$TMPDIR/failing.sh"
}

scenario "a block with a mistake" failing_block
scenario "the first commands of docs/tutorial.md" first_commands
scenario "docs/tutorial.md, followed" follow
done_testing
