// schemas.js: what tests/integration/schemas.sh asks ajv. Prints TAP. The corpus is described in
// tests/fixtures/plans/README.md; tests/unit/test_plan_corpus.c reads the same with plan_load().
"use strict";
const fs = require("fs");
const path = require("path");
const Ajv = require("ajv/dist/2020");

const corpus = "tests/fixtures/plans";
let tests = 0;

function report(name, good, detail) {
    if (!name.includes(process.env.TESTS_ONLY || "")) return;
    tests++;
    console.log(`${good ? "ok" : "not ok"} ${tests} - ${name}`);
    if (!good && detail) console.log(`# ${detail}`);
}

function load(file) {
    return JSON.parse(fs.readFileSync(file, "utf8"));
}

function files(folder) {
    return fs.readdirSync(folder).filter((f) => f.endsWith(".json")).sort().map((f) => path.join(folder, f));
}

// A case's value with what it abbreviates written out; n: the number of the item it is in, or 0.
function generate(value, n) {
    if (Array.isArray(value)) return value.map((v) => generate(v, n));
    if (typeof value === "string") return n && value === "$n" ? n : n ? value.replaceAll("%", n) : value;
    if (typeof value !== "object" || value === null) return value;
    if ("$times" in value) return Array.from({ length: value.$times }, (_, i) => generate(value.of, i + 1));
    if ("$string" in value) return value.$string.repeat(value.times);
    if ("$keys" in value)
        return Object.fromEntries(Array.from({ length: value.$keys }, (_, i) => [`KEY${i + 1}`, generate(value.of, i + 1)]));
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, generate(v, n)]));
}

function change(plan, pointer, value) {
    const keys = pointer.split("/").slice(1);
    const last = keys.pop();
    const at = keys.reduce((v, k) => v[k], plan);
    if (value === undefined) delete at[last];
    else at[last] = value;
}

function planOf(one) {
    const plan = load(path.join(corpus, "good/every-key.json"));
    for (const pointer of one.remove || []) change(plan, pointer, undefined);
    for (const [pointer, value] of Object.entries(one.set || {})) change(plan, pointer, generate(value, 0));
    return plan;
}

function why(validate) {
    return (validate.errors || []).map((e) => `${e.instancePath} ${e.message}`).join("; ");
}

const ajv = new Ajv({ strict: true, strictTypes: false, strictTuples: false, strictRequired: false, allErrors: true });
const compiled = {};
for (const file of files("schemas")) {
    try {
        compiled[path.basename(file)] = ajv.compile(load(file));
        report(`${file} is a strict schema`, true);
    } catch (error) {
        report(`${file} is a strict schema`, false, error.message);
    }
}
const validate = compiled["plan.schema.json"];

// every-key.json has every key, or the changes to it would not reach them all. Only one timings rule fits, and "nodes" is
// instead of "node".
const schema = load("schemas/plan.schema.json");
const whole = load(path.join(corpus, "good/every-key.json"));
for (const [name, spec, values] of [
    ["a plan", schema, [whole]],
    ["a variant", schema.$defs.variant, whole.variants],
    ["a gate", schema.$defs.gate, whole.variants.flatMap((v) => v.gates || [])],
    ["a shape", schema.$defs.shape, whole.shapes],
    ["a patch", schema.$defs.patch, whole.patches],
    ["a source", schema.$defs.source, [whole.source]],
    ["a notification", schema.$defs.notification, whole.notify],
    ...["connect", "sampling", "threshold", "cost", "retention"].map((k) => [k, schema.properties[k], [whole[k]]]),
]) {
    const missing = Object.keys(spec.properties).filter((k) => k !== "nodes" && !values.some((v) => k in v));
    report(`every-key.json has every key of ${name}`, missing.join() === "", missing.join());
}
for (const file of [...files(path.join(corpus, "good")), ...files("harness/plans")])
    report(`${file} conforms`, validate(load(file)), why(validate));
for (const file of files(path.join(corpus, "edge")))
    for (const one of load(file)) report(`plan.schema.json accepts ${one.what}`, validate(planOf(one)), why(validate));
for (const file of files(path.join(corpus, "bad"))) {
    for (const one of load(file)) {
        const accepted = validate(planOf(one));
        const unsaid = one.schema === "cannot say";
        report(`plan.schema.json ${unsaid ? "cannot express" : "refuses"} ${one.what}`, accepted === unsaid, why(validate));
    }
}
console.log(`1..${tests}`);
