#!/usr/bin/env bash
# `lint banned` sees a banned call or a reserved name wherever it stands in a line, and nothing that only looks like one.
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

for text in 'localtime_r(&now, &tm);' 'strcpy(child, name);' 'x = strcpy(child, name);' '    strncpy (a, b, c);' 'if (!gets(line))' 'return atoi("1");'; do
    scenario "the banned call in: $text" banned "$text"
done
for text in '#define _x 1' ' # define __X' 'void f(int a, int __b);' 'int f(char *_Name, int n);' 'void f(void (*__done)(int), int n);' \
    'int f(int __n[2]);'; do
    scenario "the reserved name in: $text" banned "$text"
done
for text in '__attribute__((cleanup(f))) int n;' 'f(__FILE__, __LINE__);' '_Noreturn void f(int n_x);' '#define x_ f(__VA_ARGS__)'; do
    scenario "the permitted name in: $text" lint_of "$text" 0
done
for text in 'my_strcpy(a, b);' 'fgets(a, b, c);' 'strtok_r(a, b, c);' 'file_system(a);' '/* the system calls it */'; do
    scenario "the permitted line: $text" lint_of "$text" 0
done
# A timer's time of day is local: one file asks what the zone's clocks do, and is held to the rest.
lost_hour() {
    mkdir -p "$TMPDIR/repo/harness/nightly"
    printf '%s\n' "$1" >"$TMPDIR/repo/harness/nightly/lost_hour.c"
    lint_of "int x;" "$2"
    rm "$TMPDIR/repo/harness/nightly/lost_hour.c"
}
scenario "local time where a timer's hour is looked up" lost_hour 'mktime(&day);' 0
scenario "another banned call in that file" lost_hour 'strcpy(a, b);' 1
done_testing
