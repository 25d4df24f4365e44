/* kernsweep diff: compares the machine code of a variant in two runs, or of a plan at two revisions, kernel
 * by kernel: resources, instructions by class, hot loops, and the listings. */
#include "common/base/regex.h"
#include "common/base/symbol.h"
#include "harness/commands/base/cmd.h"
#include "harness/commands/compare/diff_listing.h"
#include "harness/commands/measure/diff_revisions.h"
#include "reports/render/table.h"
#include "results/judge/kernel_pairs.h"
#include "results/query/find_run.h"
#include "results/store/run_folder.h"
#include "results/store/run_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PAIR_MAX = DIFF_LISTING_MAX + 64 };

struct side {
    struct run_data run;
    struct run_details details;
    const struct run_variant *variant; /* in run */
    struct buf listings;
    bool listed;
};

struct diff {
    const char *variant;
    struct regex kernel; /* empty: all */
    struct side before, now;
    struct kernel_pairs pairs;
};

static void release_side(struct side *s)
{
    buf_release(&s->listings);
    details_release(&s->details);
    run_data_release(&s->run);
}

static int load_side(struct store *s, const char *word, const char *variant, struct side *out,
                     struct err *err)
{
    int64_t key;
    if (store_find_run(s, word, &key, err) != 0 || run_data_load(s, key, &out->run, err) != 0 ||
        details_load(s, key, &out->details, err) != 0)
        return -1;
    out->variant = run_data_variant(&out->run, variant);
    if (!out->variant)
        return err_set(err, ERR_INPUT, "run %s has no variant %.64s", out->run.info.run_id, variant);
    if (!*out->variant->code_sha256)
        return err_set(
            err, ERR_INPUT,
            "run %s has no code identity of %.64s: `reason` in %.64s/code.json says why, or its plan "
            "builds nothing for it",
            out->run.info.run_id, variant, variant);
    out->listed = run_folder_may_be_of(out->run.info.bundle, out->run.info.run_id) &&
                  diff_listing_load(out->run.info.bundle, variant, &out->listings);
    return 0;
}

static bool is_meant(struct diff *d, const struct kernel_pair *p)
{
    struct err ignored = {.kind = ERR_NONE};
    const char *name = kernel_pair_name(p);
    const struct symbol_title title = symbol_title(name);
    return !d->kernel.code || regex_match(&d->kernel, name, strlen(name), 0, &ignored) == 1 ||
           regex_match(&d->kernel, title.s, strlen(title.s), 0, &ignored) == 1;
}

static int pair_listing(struct diff *d, const struct kernel_pair *p, struct buf *out, struct err *err)
{
    if (p->state != KERNEL_CHANGED || !d->before.listed || !d->now.listed)
        return 0;
    return diff_listing(&d->before.listings, &d->now.listings, kernel_pair_name(p), out, err);
}

static int encode_pair(struct diff *d, const struct kernel_pair *p, json_t *kernels, struct err *err)
{
    AUTO(buf_release) struct buf listing = {.max = PAIR_MAX};
    if (pair_listing(d, p, &listing, err) != 0)
        return -1;
    json_t *out = diff_encode_kernel(p);
    if (listing.len)
        json_object_set_new(out, "listing", json_string(buf_str(&listing)));
    json_array_append_new(kernels, out);
    return 0;
}

static json_t *encode_side(const struct side *s)
{
    return json_pack("{s:s, s:s}", "run_id", s->run.info.run_id, "sha256", s->variant->code_sha256);
}

static bool same_code(const struct diff *d)
{
    return strcmp(d->before.variant->code_sha256, d->now.variant->code_sha256) == 0;
}

static int print_json(struct diff *d, struct err *err)
{
    json_auto_t *kernels = json_array();
    for (size_t i = 0; i < d->pairs.count; i++)
        if (is_meant(d, &d->pairs.items[i]) && encode_pair(d, &d->pairs.items[i], kernels, err) != 0)
            return -1;
    return cmd_print_json(json_pack("{s:s, s:o, s:o, s:b, s:O}", "variant", d->variant, "before",
                                    encode_side(&d->before), "after", encode_side(&d->now), "same",
                                    same_code(d), "kernels", kernels));
}

static void number_text(char *out, size_t size, int64_t n)
{
    if (n == KERNEL_FACT_UNKNOWN)
        snprintf(out, size, "-");
    else
        snprintf(out, size, "%" PRId64, n);
}

static void add_fact(struct table *t, const struct kernel_fact *f)
{
    char before[32], now[32], change[32] = "", what[64];
    bool known = f->before != KERNEL_FACT_UNKNOWN && f->now != KERNEL_FACT_UNKNOWN;
    if (f->before <= 0 && f->now <= 0)
        return;
    number_text(before, sizeof before, f->before);
    number_text(now, sizeof now, f->now);
    if (known && f->before != f->now)
        snprintf(change, sizeof change, "%+" PRId64, f->now - f->before);
    snprintf(what, sizeof what, "%s: %s", strcmp(f->group, "hot_loop") == 0 ? "hot loop" : f->group, f->name);
    table_text(t, what);
    table_text(t, before);
    table_text(t, now);
    table_text(t, change);
}

static void print_facts(const struct kernel_pair *p)
{
    struct table t;
    AUTO(buf_release) struct buf text = {.max = DIFF_LISTING_MAX};
    table_init(&t);
    table_column(&t, "", false);
    table_column(&t, "Before", true);
    table_column(&t, "After", true);
    table_column(&t, "Change", true);
    for (size_t i = 0; i < KERNEL_FACTS; i++) {
        const struct kernel_fact f = kernel_pair_fact(p, i);
        add_fact(&t, &f);
    }
    if (table_rows(&t)) {
        table_write_text(&t, cmd_screen(stdout), &text);
        cmd_print_fitted(&text, stdout);
    } else
        puts("  nothing else is known of it");
    table_release(&t);
}

static int print_pair(struct diff *d, const struct kernel_pair *p, struct err *err)
{
    AUTO(buf_release) struct buf listing = {.max = PAIR_MAX};
    if (pair_listing(d, p, &listing, err) != 0)
        return -1;
    const char *former = kernel_pair_former(p);
    printf("\n%s: %s%s%s\n", symbol_title(kernel_pair_name(p)).s, kernel_state_name(p->state),
           former ? ", was " : "", former ? symbol_title(former).s : "");
    if (kernel_pair_differs(p))
        print_facts(p);
    if (listing.len) {
        putchar('\n');
        cmd_print(&listing);
    }
    return 0;
}

static void print_head(const struct diff *d)
{
    printf("%s in run %s (%.12s) and run %s (%.12s): ", d->variant, d->before.run.info.run_id,
           d->before.variant->code_sha256, d->now.run.info.run_id, d->now.variant->code_sha256);
    if (same_code(d))
        puts("the same machine code");
    else if (!d->before.variant->code_of_device || !d->now.variant->code_of_device)
        puts("the built files differ; without device code there is nothing more to compare");
    else if (d->pairs.count == 0)
        puts("the device code differs; it has no named kernels, or too many");
    else
        printf("%zu of %zu kernel%s differ%s%s\n", d->pairs.changed, d->pairs.count,
               text_plural((long long)d->pairs.count), d->pairs.count == 1 ? "s" : "",
               d->pairs.changed ? "" : "; constants, initial values or functions that no kernel calls do");
}

static int print_text(struct diff *d, struct err *err)
{
    size_t meant = 0;
    print_head(d);
    for (size_t i = 0; i < d->pairs.count; i++) {
        const struct kernel_pair *p = &d->pairs.items[i];
        if (!is_meant(d, p))
            continue;
        meant++;
        if (p->state != KERNEL_IDENTICAL && print_pair(d, p, err) != 0)
            return -1;
    }
    if (d->kernel.code && d->pairs.count && meant == 0)
        return err_set(err, ERR_INPUT,
                       "diff: --kernel matches no kernel: without it, those that differ are shown");
    if (d->pairs.changed && !(d->before.listed && d->now.listed))
        fprintf(stderr, "no listings to compare: both plans need \"listings\": true, and both bundles must "
                        "still exist\n");
    return EXIT_DONE;
}

static int compare(struct cmd_env *env, struct store *s, struct diff *d, const char **words, struct err *err)
{
    if (load_side(s, words[0], d->variant, &d->before, err) != 0 ||
        load_side(s, words[1], d->variant, &d->now, err) != 0)
        return -1;
    const struct kernel_side before = {&d->before.run, &d->before.details, d->variant},
                             now = {&d->now.run, &d->now.details, d->variant};
    kernel_pairs_make(&before, &now, &d->pairs);
    return env->json ? print_json(d, err) : print_text(d, err);
}

static void release(struct diff *d)
{
    kernel_pairs_release(&d->pairs);
    release_side(&d->before);
    release_side(&d->now);
    regex_release(&d->kernel);
}

struct diff_args {
    const char *variant, *kernel, *revs;
};

static int diff(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct diff_args *a = args;
    AUTO(store_close) struct store s = {0};
    AUTO(release) struct diff d = {.variant = a->variant};
    if (words->n != (a->revs ? 1 : 2) || (a->revs && a->kernel))
        return err_set(err, ERR_INPUT,
                       "diff: expected two runs, or a plan with --revs (and without --kernel)");
    if (a->revs)
        return diff_revisions(env, words->v[0], a->revs, a->variant, err);
    if (!a->variant)
        return err_set(err, ERR_INPUT, "diff: --variant is required");
    if (a->kernel && regex_compile(&d.kernel, a->kernel, err) != 0)
        return err_wrap(err, "--kernel");
    return cmd_store_open(env, &s, STORE_READ, err) != 0 ? -1 : compare(env, &s, &d, words->v, err);
}

#define AT(member) ARG_AT(struct diff_args, member)

static const struct arg options[] = {
    {"--variant", "NAME", AT(variant),
     "the variant whose code is compared; with --revs, of all if not given"},
    {"--kernel", "REGEX", AT(kernel),
     "only kernels whose name matches, as printed or as in the symbol table"},
    {"--revs", "A..B", AT(revs),
     "build these two git revisions of a plan's source.dir here, and list their kernels"},
};

const struct cmd cmd_diff = {
    .name = "diff",
    .summary = "compare the machine code of two runs or revisions, kernel by kernel",
    .usage = "RUN_A RUN_B --variant V [--kernel REGEX] | --revs A..B PLAN [--variant V]",
    .about =
        "Compares the machine code of a variant in two runs, kernel by kernel; or builds two revisions of a "
        "plan's sources on this machine, which needs no GPU, and lists how their kernels differ. With "
        "--revs, exits 0 if all code is the same, 1 if it is not or not known to be, 2 if one does "
        "not build.",
    .options = ARG_TABLE(struct diff_args, options),
    .min_words = 1,
    .max_words = 2,
    .unlisted = CMD_NODE_OPTIONS,
    .run = diff,
};
