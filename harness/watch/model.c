#include "harness/watch/model.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT_MAX = 8 };

struct watch_model *watch_model_new(void)
{
    struct watch_model *m = xcalloc(1, sizeof *m);
    live_init(&m->live, open_memstream(&m->text, &m->text_len));
    m->suite_eta_s = NAN;
    return m;
}

void watch_model_free(struct watch_model *m)
{
    if (!m)
        return;
    fclose(m->live.out);
    free(m->text);
    free(m);
}

static void append_log(struct watch_model *m, const char *line, size_t len)
{
    text_printable_fixed(m->lines[m->n_lines++ % WATCH_LINES], WATCH_LINE_MAX, line, len);
}

/* Moves the text that live has written since the last call to the log. */
static void move_to_log(struct watch_model *m)
{
    fflush(m->live.out);
    for (size_t at = 0; at < m->text_len;) {
        size_t len = strcspn(m->text + at, "\n");
        append_log(m, m->text + at, len);
        at += len + 1;
    }
    rewind(m->live.out);
}

void watch_model_note(struct watch_model *m, const char *text)
{
    append_log(m, text, strlen(text));
}

static struct watch_variant *variant_of(struct watch_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_variants; i++)
        if (strcmp(m->variants[i].name, name) == 0)
            return &m->variants[i];
    if (m->n_variants == WATCH_VARIANTS_MAX || !*name)
        return NULL;
    struct watch_variant *v = &m->variants[m->n_variants++];
    snprintf(v->name, sizeof v->name, "%s", name);
    return v;
}

static bool context_of(struct watch_model *m, int64_t tokens, size_t *out)
{
    for (*out = 0; *out < m->n_contexts; ++*out)
        if (m->contexts[*out] == tokens)
            return true;
    if (m->n_contexts == WATCH_CONTEXTS_MAX)
        return false;
    m->contexts[m->n_contexts++] = tokens;
    return true;
}

static struct watch_cell *cell_of(struct watch_model *m, const struct event *e)
{
    size_t context;
    struct watch_variant *v = variant_of(m, e->variant);
    return v && context_of(m, e->ctx, &context) ? &m->cells[v - m->variants][context] : NULL;
}

/* Resets the state at the start of a journal, which is read again if its end was lost. */
static void start_suite(struct watch_model *m, const struct event *e)
{
    char name[LIMIT_NAME + 1];
    size_t ignored;
    memset(m->cells, 0, sizeof m->cells);
    for (size_t i = 0; i < m->n_variants; i++)
        *m->variants[i].status = '\0';
    *m->status = '\0';
    for (const char *at = e->suite.variants; *at; at += strcspn(at, "\n") + 1) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\n"), at);
        variant_of(m, name);
    }
    for (size_t i = 0; i < e->suite.n_contexts; i++)
        context_of(m, e->suite.contexts[i], &ignored);
}

static void set_variant(struct watch_model *m, const struct event *e, const char *status)
{
    struct watch_variant *v = variant_of(m, e->variant);
    if (v)
        snprintf(v->status, sizeof v->status, "%.15s", status);
}

static void append_sample(struct watch_series *s, double value)
{
    if (s->count == WATCH_SAMPLES)
        memmove(s->values, s->values + 1, (WATCH_SAMPLES - 1) * sizeof *s->values);
    else
        s->count++;
    s->values[s->count - 1] = value;
}

static void leave_lane(struct watch_lane *l)
{
    if (l->running && l->cell && l->cell->running > 0)
        l->cell->running--;
    l->running = false;
    l->cell = NULL;
}

static struct watch_lane *lane_of(struct watch_model *m, const struct event *e)
{
    struct watch_lane *l = &m->lanes[e->lane];
    if ((size_t)e->lane >= m->n_lanes)
        m->n_lanes = (size_t)e->lane + 1;
    if (*e->gpus)
        memcpy(l->gpus, e->gpus, sizeof l->gpus);
    return l;
}

static void enter_lane(struct watch_model *m, struct watch_lane *l, const struct event *e)
{
    leave_lane(l);
    l->vram.count = l->gpu.count = 0;
    *l->output = '\0';
    *l->out = '\0';
    memcpy(l->variant, e->variant, sizeof l->variant);
    l->ctx = e->ctx;
    l->run_idx = e->run_idx;
    l->running = true;
    l->cell = cell_of(m, e);
    if (l->cell)
        l->cell->running++;
}

static bool has_test(const struct watch_lane *l, const struct event *e)
{
    return l->running && l->ctx == e->ctx && l->run_idx == e->run_idx && strcmp(l->variant, e->variant) == 0;
}

static void update_test(struct watch_model *m, const struct event *e)
{
    struct watch_lane *l = lane_of(m, e);
    if (e->type == EVENT_TEST_START || !has_test(l, e))
        enter_lane(m, l, e);
    if (e->type == EVENT_HEARTBEAT) {
        append_sample(&l->vram, e->load.vram_used);
        append_sample(&l->gpu, e->load.gpu_use);
    }
    if (*e->log_tail)
        memcpy(l->output, e->log_tail, sizeof l->output);
    l->elapsed_s = isfinite(e->times.elapsed_s) ? e->times.elapsed_s : 0;
    l->timeout_s = e->times.timeout_s;
    l->eta_remaining_s = e->times.eta_remaining_s;
}

static void end_test(struct watch_model *m, const struct event *e)
{
    struct watch_cell *c = cell_of(m, e);
    for (size_t i = 0; i < m->n_lanes; i++)
        if (has_test(&m->lanes[i], e))
            leave_lane(&m->lanes[i]);
    if (!c || e->retry)
        return;
    if (strcmp(e->status, "OK") == 0) {
        c->ok++;
        c->last_s = isfinite(e->times.prefill_s) ? e->times.prefill_s : e->times.wall_s;
    } else
        snprintf(c->status, sizeof c->status, "%.15s", *e->status ? e->status : "SKIPPED");
}

static void leave_all(struct watch_model *m)
{
    for (size_t i = 0; i < m->n_lanes; i++)
        leave_lane(&m->lanes[i]);
}

/* The lane's ids are separated by commas. */
static bool has_gpu(const struct watch_lane *l, const char *id)
{
    size_t len = strlen(id);
    for (const char *at = l->gpus; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        if (strcspn(at, ",") == len && strncmp(at, id, len) == 0)
            return true;
    return false;
}

static void note_node(struct watch_model *m, const struct event *e)
{
    for (size_t i = 0; *e->gpu_out && i < m->n_lanes; i++)
        if (has_gpu(&m->lanes[i], e->gpu_out)) {
            leave_lane(&m->lanes[i]);
            snprintf(m->lanes[i].out, sizeof m->lanes[i].out, "%s", *e->reason ? e->reason : "out");
        }
}

static void apply_event(struct watch_model *m, const struct event *e)
{
    switch (e->type) {
    case EVENT_SUITE_START:
        leave_all(m);
        start_suite(m, e);
        break;
    case EVENT_BUILD_START:
        set_variant(m, e, "building");
        break;
    case EVENT_BUILD_END:
        set_variant(m, e, e->status);
        break;
    case EVENT_GATE:
        if (strcmp(e->status, "OK") != 0)
            set_variant(m, e, e->status);
        break;
    case EVENT_TEST_START:
    case EVENT_HEARTBEAT:
        update_test(m, e);
        break;
    case EVENT_TEST_END:
    case EVENT_TEST_SKIP:
        end_test(m, e);
        break;
    case EVENT_SUITE_END:
        leave_all(m);
        snprintf(m->status, sizeof m->status, "%s", e->status);
        break;
    case EVENT_NODE:
        note_node(m, e);
        break;
    case EVENT_CONFIG_PATCH:
    case EVENT_COUNT:
        break;
    }
}

void watch_model_event(struct watch_model *m, const struct event *e)
{
    if (isfinite(e->times.suite_eta_s))
        m->suite_eta_s = e->times.suite_eta_s;
    apply_event(m, e);
    live_event(&m->live, e);
    move_to_log(m);
}

const char *watch_model_line(const struct watch_model *m, size_t i, size_t n)
{
    size_t kept = m->n_lines < WATCH_LINES ? m->n_lines : WATCH_LINES;
    if (n > kept)
        n = kept;
    return i < n ? m->lines[(m->n_lines - n + i) % WATCH_LINES] : NULL;
}

const char *watch_lane_output(const struct watch_lane *l, size_t n, size_t *count)
{
    const char *at = l->output + strlen(l->output);
    for (*count = 0; *count < n && at > l->output; ++*count)
        for (at--; at > l->output && at[-1] != '\n'; at--)
            continue;
    return at;
}

size_t watch_model_running(const struct watch_model *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_lanes; i++)
        n += m->lanes[i].running;
    return n;
}

const struct watch_lane *watch_model_longest(const struct watch_model *m)
{
    const struct watch_lane *found = NULL;
    for (size_t i = 0; i < m->n_lanes; i++)
        if (m->lanes[i].running && (!found || m->lanes[i].elapsed_s > found->elapsed_s))
            found = &m->lanes[i];
    return found;
}

/* Writes at most seven characters, to fit into a column of the matrix. */
static void short_duration(double seconds, char *out, size_t cap)
{
    if (!isfinite(seconds) || seconds < 0)
        snprintf(out, cap, "ok");
    else if (seconds < 0.9995)
        snprintf(out, cap, "%.3g ms", seconds * 1e3);
    else if (seconds < 999.5)
        snprintf(out, cap, "%.3g s", seconds);
    else
        snprintf(out, cap, "%.3g h", seconds / 3600);
}

size_t watch_window(size_t first, size_t shown, size_t count, size_t must)
{
    if (must < count && must < first)
        first = must;
    if (must < count && must >= first + shown)
        first = must + 1 - shown;
    return count <= shown ? 0 : first > count - shown ? count - shown : first;
}

bool watch_running(const struct watch_model *m, size_t *variant, size_t *context)
{
    if (watch_model_running(m) == 0)
        return false;
    for (*variant = 0; *variant < m->n_variants; ++*variant)
        for (*context = 0; *context < m->n_contexts; ++*context)
            if (m->cells[*variant][*context].running)
                return true;
    return false;
}

void watch_cell_text(const struct watch_cell *c, char *out)
{
    if (c->running)
        snprintf(out, 16, "run");
    else if (*c->status)
        snprintf(out, 16, "%s", c->status);
    else if (c->ok == 1)
        short_duration(c->last_s, out, 16);
    else if (c->ok > 1) {
        char last[12];
        short_duration(c->last_s, last, sizeof last);
        snprintf(out, 16, "%s x%d", last, c->ok);
    } else
        snprintf(out, 16, "-");
}

double watch_series_max(const struct watch_series *s)
{
    double max = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->values[i] > max)
            max = s->values[i];
    return max;
}

size_t watch_series_heights(const struct watch_series *s, double max, int *out, size_t width)
{
    size_t n = s->count < width ? s->count : width;
    for (size_t i = 0; i < n; i++) {
        double v = s->values[s->count - n + i];
        double height = isfinite(v) && v > 0 && max > 0 ? ceil(v / max * HEIGHT_MAX) : 0;
        out[i] = height > HEIGHT_MAX ? HEIGHT_MAX : (int)height;
    }
    return n;
}
