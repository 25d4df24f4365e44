#!/usr/bin/env bash
# schemas/plan.schema.json says what plan_load() accepts: ajv 8 on the corpus that test_plan_corpus.c reads, and on
# the plans that come along. All schemas are strict ones. ajv comes from npm, once a build folder.
. tests/lib.sh

command -v node >/dev/null || skip_all "node is not installed"
command -v npm >/dev/null || skip_all "npm is not installed"

modules=$BUILD/tests/npm
if ! [ -d "$modules/node_modules/ajv/dist" ]; then
    npm install --prefix "$modules" --no-audit --no-fund --no-save --fetch-retries=0 --fetch-timeout=20000 \
        ajv@8 >"$TMPDIR/npm.log" 2>&1 || skip_all "npm cannot install ajv: $(grep -m 1 -i err "$TMPDIR/npm.log")"
fi
NODE_PATH=$modules/node_modules exec node tests/integration/schemas.js
