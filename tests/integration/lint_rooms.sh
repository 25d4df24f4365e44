#!/usr/bin/env bash
# `scripts/rooms check` finds each kind of include that scripts/rooms.txt forbids.
# unsanitized: a Python script
. tests/lib.sh

repo=$TMPDIR/repo

# A repository of three rooms in which everything is allowed: high -> low, and common.
make_repo() {
    rm -rf "$repo"
    mkdir -p "$repo"/{scripts,docs,app/high,app/low,common/base}
    cp scripts/rooms "$repo/scripts/"
    printf 'app/high: app/low common\napp/low: common\ncommon/base:\n' >"$repo/scripts/rooms.txt"
    printf '#include "app/low/b.h"\n#include "common/base/buf.h"\n' >"$repo/app/high/a.c"
    printf '#include "common/base/buf.h"\n' >"$repo/app/low/b.h"
    printf '#include "app/low/b.h"\n' >"$repo/app/low/b.c"
    : >"$repo/common/base/buf.h"
    printf '<!-- rooms %.16s -->\n' "$(sha256sum "$repo/scripts/rooms.txt")" >"$repo/docs/rooms.svg"
}

# finds TITLE REGEX: the check fails and prints a line that matches
finds() {
    exits "$1: the check fails" 1 "$repo/scripts/rooms" check
    like "$1: the message says where" "$OUT" "$2"
}

make_repo
exits 'a repository that keeps to its table passes' 0 "$repo/scripts/rooms" check
is 'a repository that keeps to its table prints nothing' "$OUT" ''

make_repo
: >"$repo/app/high/a.h"
printf '#include "app/high/a.h"\n' >>"$repo/app/low/b.c"
finds 'an include of a room above' '^app/low/b.c: app/low may not include app/high/a.h$'

make_repo
printf '' >"$repo/app/high/a.c"
finds 'an arrow that no include needs' '^scripts/rooms.txt: app/high does not include app/low: remove the arrow$'

make_repo
printf '#include "app/low/c.h"\n' >>"$repo/app/low/b.h"
printf '#include "app/low/b.h"\n' >"$repo/app/low/c.h"
: >"$repo/app/low/c.c"
finds 'two files that include each other' '^a cycle of files: app/low/. -> app/low/. -> app/low/.$'

make_repo
sed -i 's|^app/low: common|app/low: common app/high|' "$repo/scripts/rooms.txt"
finds 'two rooms that may include each other' '^a cycle of rooms: app/'

make_repo
printf '#include "b.h"\n' >>"$repo/app/low/b.c"
finds 'an include that does not start at the root' '^app/low/b.c: there is no such included file'

make_repo
mkdir "$repo/app/new"
printf '#include "common/base/buf.h"\n' >"$repo/app/new/n.c"
finds 'a folder that the table does not name' '^app/new/n.c: app/new/n.c is in no room'

make_repo
echo '# changed' >>"$repo/scripts/rooms.txt"
finds 'a drawing that is older than the table' '^docs/rooms.svg is out of date'
done_testing
