#!/usr/bin/env bash
# `lint banned` sees a banned call wherever it stands in a line, and nothing that only looks like one.
# unsanitized: a shell script
. tests/lib.sh

mkdir -p "$TMPDIR/repo/scripts" "$TMPDIR"/repo/{common,executor,harness,results,reports,tests}
cp scripts/lint "$TMPDIR/repo/scripts/"

# line TEXT: the only line of code there is
line() {
    printf '%s\n' "$1" >"$TMPDIR/repo/executor/x.c"
}

for text in 'strcpy(child, name);' 'x = strcpy(child, name);' '    strncpy (a, b, c);' 'if (!gets(line))' 'return atoi("1");'; do
    line "$text"
    exits "found: $text" 1 "$TMPDIR/repo/scripts/lint" banned
    like "   and shown with its place" "$OUT" '^executor/x.c:1:'
done
for text in 'my_strcpy(a, b);' 'fgets(a, b, c);' 'strtok_r(a, b, c);' 'file_system(a);' '/* the system calls it */'; do
    line "$text"
    exits "passed: $text" 0 "$TMPDIR/repo/scripts/lint" banned
done
done_testing
