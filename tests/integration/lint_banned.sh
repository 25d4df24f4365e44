#!/usr/bin/env bash
# `lint banned` sees a banned call wherever it stands in a line, and nothing that only looks like one.
# unsanitized: a shell script
# touches: common executor harness results reports tests
. tests/lib.sh

mkdir -p "$TMPDIR/repo/scripts" "$TMPDIR"/repo/{common,executor,harness,results,reports,tests}
cp scripts/lint "$TMPDIR/repo/scripts/"

# lint_of TEXT EXIT_CODE: lint of a tree whose only line of code is TEXT.
lint_of() {
    printf '%s\n' "$1" >"$TMPDIR/repo/executor/x.c"
    exits "lint banned exits $2" "$2" "$TMPDIR/repo/scripts/lint" banned
}

banned() {
    lint_of "$1" 1
    like "the finding has its file and line" "$OUT" '^executor/x.c:1:'
}

for text in 'strcpy(child, name);' 'x = strcpy(child, name);' '    strncpy (a, b, c);' 'if (!gets(line))' 'return atoi("1");'; do
    scenario "the banned call in: $text" banned "$text"
done
for text in 'my_strcpy(a, b);' 'fgets(a, b, c);' 'strtok_r(a, b, c);' 'file_system(a);' '/* the system calls it */'; do
    scenario "the permitted line: $text" lint_of "$text" 0
done
done_testing
