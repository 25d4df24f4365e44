#include "results/ingest/b3_89/build.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char gate_suffix[] = "_gate.log", resources_suffix[] = "_resources.txt";
enum { TEXT_MAX = 16 << 20 };

void b3_builds_release(struct b3_builds *b)
{
    free(b->items);
    *b = (struct b3_builds){0};
}

static const char *base_of(const char *rel)
{
    const char *base = strrchr(rel, '/');
    return base ? base + 1 : rel;
}

/* The variant before the suffix; false if the name does not end in it. */
static bool variant_before(const char *rel, const char *suffix, char *out)
{
    const char *base = base_of(rel);
    size_t n = strlen(base), k = strlen(suffix);
    if (n <= k || n - k > LIMIT_NAME || strcmp(base + n - k, suffix) != 0)
        return false;
    memcpy(out, base, n - k);
    out[n - k] = '\0';
    return text_is_name(out);
}

bool b3_builds_may_be_in(const char *rel)
{
    char variant[RUN_NAME_MAX];
    return !strstr(rel, "ctx_") &&
           (variant_before(rel, gate_suffix, variant) || variant_before(rel, resources_suffix, variant));
}

static struct b3_build *build_of(struct b3_builds *b, const char *variant, struct err *err)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->items[i].variant, variant) == 0)
            return &b->items[i];
    if (b->count == LIMIT_VARIANTS) {
        err_set(err, ERR_INPUT, "gate logs and resources of more than %d variants", LIMIT_VARIANTS);
        return NULL;
    }
    ALLOC_GROW(b->items, b->count + 1, b->cap);
    struct b3_build *v = &b->items[b->count++];
    *v = (struct b3_build){.vgprs = NAN, .scratch_bytes = NAN};
    snprintf(v->variant, sizeof v->variant, "%s", variant);
    return v;
}

/* A verdict is a line like "GATE FAILED: Scratch spilling detected (528 bytes)."; the last one counts. */
static void take_gate_line(struct b3_build *v, const char *line)
{
    static const struct {
        const char *mark;
        bool passed;
    } verdicts[] = {{"GATE PASSED: ", true}, {"GATE FAILED: ", false}, {"GATE ERROR: ", false}};
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        size_t n = strlen(verdicts[i].mark);
        if (strncmp(line, verdicts[i].mark, n) != 0)
            continue;
        v->gated = true;
        v->passed = verdicts[i].passed;
        text_printable_fixed(v->reason, sizeof v->reason, line + n, strlen(line + n));
    }
}

/* Takes the number from a line like "  Scratch: 528 bytes". */
static void take_number(const char *line, const char *name, double most, double *out)
{
    size_t n = strlen(name);
    line += strspn(line, " \t");
    if (strncmp(line, name, n) != 0)
        return;
    char *end;
    double v = strtod(line + n, &end);
    if (end != line + n && v >= 0 && v <= most && v == floor(v) && !(*out >= v))
        *out = v;
}

static void take_line(struct b3_build *v, const char *line, bool gate)
{
    if (gate) {
        take_gate_line(v, line);
        return;
    }
    take_number(line, "VGPRs:", metric_info(METRIC_VGPRS)->most, &v->vgprs);
    take_number(line, "Scratch:", metric_info(METRIC_SCRATCH_BYTES)->most, &v->scratch_bytes);
}

int b3_builds_read(struct b3_builds *b, const char *rel, const char *full, struct err *err)
{
    char variant[RUN_NAME_MAX], *save = NULL;
    bool gate = variant_before(rel, gate_suffix, variant);
    AUTO(buf_release) struct buf text = {.max = TEXT_MAX};
    if (!gate && !variant_before(rel, resources_suffix, variant))
        return 0;
    struct b3_build *v = build_of(b, variant, err);
    if (!v)
        return -1;
    if (fs_read_file(full, TEXT_MAX, &text, err) != 0)
        return -1;
    char *first = text.data ? strtok_r(text.data, "\r\n", &save) : NULL;
    for (char *line = first; line; line = strtok_r(NULL, "\r\n", &save))
        take_line(v, line, gate);
    return 0;
}

static bool was_measured(const struct draft *d, size_t variant)
{
    for (size_t i = 0; i < d->n_tests; i++)
        if (d->tests[i].t.variant == variant && d->tests[i].t.status != STATUS_SKIPPED)
            return true;
    return false;
}

static void add_gate(struct draft *d, size_t variant, const struct b3_build *v)
{
    struct run_gate *g = &d->details.gates[d->details.n_gates++];
    *g = (struct run_gate){.variant = variant, .passed = v->passed, .wall_s = NAN};
    snprintf(g->name, sizeof g->name, "no_spill");
    snprintf(g->reason, sizeof g->reason, "%s", v->reason);
}

static int apply_one(const struct b3_build *v, struct draft *d, struct err *err)
{
    size_t i = draft_variant(d, v->variant);
    bool failed = v->gated && !v->passed;
    if (i == d->n_variants && (!failed || !draft_add_variant(d, v->variant, err)))
        return failed ? -1 : 0;
    struct run_variant *out = &d->variants[i];
    out->value[METRIC_VGPRS] = v->vgprs;
    out->value[METRIC_SCRATCH_BYTES] = v->scratch_bytes;
    if (v->gated)
        add_gate(d, i, v);
    if (failed && !was_measured(d, i)) {
        out->status = STATUS_GATE_FAILED;
        snprintf(out->reason, sizeof out->reason, "gate no_spill: %.480s", v->reason);
    }
    return 0;
}

int b3_builds_apply(const struct b3_builds *b, struct draft *d, struct err *err)
{
    d->details.gates = xcalloc(b->count, sizeof *d->details.gates);
    for (size_t i = 0; i < b->count; i++)
        if (apply_one(&b->items[i], d, err) != 0)
            return -1;
    return 0;
}
