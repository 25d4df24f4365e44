/* kernsweep resources: registers, memory and instructions of the kernels in compiled files. They are read by
 * the executor, so this is the same code as on the node. */
#include "common/base/json.h"
#include "common/base/run.h"
#include "common/base/symbol.h"
#include "common/base/text.h"
#include "common/contract/kernel_facts.h"
#include "harness/commands/base/cmd.h"
#include "reports/render/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES_MAX = 256, DEADLINE_S = 180, TABLE_BYTES_MAX = 16 << 20 };

struct listing {
    struct cmd_env *env;
    char executor[FS_PATH_MAX];
    const char *wanted; /* NULL: all kernels */
    struct table table;
    json_t *files; /* for --json */
    size_t kernels;
    json_int_t late, omitted; /* kernels without their instructions; those that are not listed */
    json_t *unknown;          /* reasons, each with the number of its kernels */
    bool several;             /* whether there are several files */
    const char *gone;         /* a file without readable code; NULL: none */
};

/* Passes on the executor's own message, without its name. */
static void fail_as_told(const struct run_result *result, struct err *err)
{
    static const char begin[] = "kernsweep-executor: ";
    char why[512];
    size_t skip =
        result->stderr_len > sizeof begin && memcmp(result->stderr_text, begin, sizeof begin - 1) == 0
            ? sizeof begin - 1
            : 0;
    const char *text = result->stderr_text + skip;
    text_printable_fixed(why, sizeof why, text, strcspn(text, "\n"));
    err_set(err, ERR_INPUT, "%s", why);
}

static json_t *read_file(const struct listing *l, const char *file, struct err *err)
{
    const char *const argv[] = {l->executor, "resources", "--path", file, l->wanted ? "--kernel" : NULL,
                                l->wanted,   NULL};
    struct run_result result;
    AUTO(buf_release) struct buf out = {.max = LIMIT_JSON_BYTES};
    json_t *root = NULL;
    if (run_capture(argv, NULL, DEADLINE_S, &out, &result, err) == 0) {
        if (result.exited && result.exit_code == EXIT_USAGE) {
            fail_as_told(&result, err);
        } else if (run_expect_success(&result, "kernsweep-executor resources", err) == 0)
            root = json_parse(buf_str(&out), out.len, file, err);
    }
    return root;
}

/* Whoever waits for a large library is told what for. */
static void announce(const char *file)
{
    enum { LARGE = 16 << 20 };
    struct stat st;
    if (stat(file, &st) == 0 && st.st_size >= LARGE)
        fprintf(stderr, "%s: reading %lld MB\n", file, (long long)st.st_size >> 20);
}

static void add_number(struct table *t, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, n);
    table_text(t, n == KERNEL_FACT_UNKNOWN ? "-" : text);
}

static int64_t sum(const int64_t *numbers, size_t count)
{
    int64_t all = 0;
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != KERNEL_FACT_UNKNOWN)
            all += numbers[i];
        else
            return KERNEL_FACT_UNKNOWN;
    return all;
}

static const enum kernel_resource resource_columns[] = {
    KERNEL_VGPRS,       KERNEL_AGPRS,       KERNEL_SGPRS,    KERNEL_SCRATCH_BYTES,
    KERNEL_VGPR_SPILLS, KERNEL_SGPR_SPILLS, KERNEL_LDS_BYTES};
static const enum instruction_class class_columns[] = {INSTRUCTION_MATRIX, INSTRUCTION_VECTOR,
                                                       INSTRUCTION_LDS, INSTRUCTION_SCRATCH};

static void add_columns(struct table *t, bool files)
{
    static const char *const titles[] = {"VGPRs",       "AGPRs",       "SGPRs", "Scratch B",
                                         "VGPR spills", "SGPR spills", "LDS B", "Instr.",
                                         "Matrix",      "Vector",      "LDS",   "Scratch"};
    if (files)
        table_column(t, "File", false);
    table_column(t, "GPU", false);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(t, titles[i], true);
    table_column(t, "Hot loop: matrix, all", true);
    table_column(t, "Kernel", false);
}

static void add_row(struct listing *l, const char *file, const char *name, const char *gpu,
                    const struct kernel_facts *f)
{
    char loop[64] = "-";
    int64_t in_loop = sum(f->hot_loop, INSTRUCTION_CLASSES);
    if (l->several)
        table_code(&l->table, file);
    table_code(&l->table, gpu ? gpu : "-");
    for (size_t i = 0; i < sizeof resource_columns / sizeof *resource_columns; i++)
        add_number(&l->table, f->resource[resource_columns[i]]);
    add_number(&l->table, sum(f->instructions, INSTRUCTION_CLASSES));
    for (size_t i = 0; i < sizeof class_columns / sizeof *class_columns; i++)
        add_number(&l->table, f->instructions[class_columns[i]]);
    if (in_loop != KERNEL_FACT_UNKNOWN)
        snprintf(loop, sizeof loop, "%" PRId64 ", %" PRId64, f->hot_loop[INSTRUCTION_MATRIX], in_loop);
    table_text(&l->table, loop);
    table_code(&l->table, symbol_title(name).s);
}

static void add_unknown(struct listing *l, const json_t *kernel)
{
    const char *why = json_string_value(json_object_get(kernel, "unknown"));
    if (why)
        json_object_set_new(l->unknown, why,
                            json_integer(json_integer_value(json_object_get(l->unknown, why)) + 1));
}

static int add_kernel(struct listing *l, const struct json_at *at, struct err *err)
{
    const char *name, *gpu = json_string_value(json_object_get(at->value, "gpu"));
    struct kernel_facts facts;
    if (json_get_str(at, "name", &name, err) != 0 || kernel_facts_decode(at, &facts, err) != 0)
        return -1;
    l->kernels++;
    add_unknown(l, at->value);
    add_row(l, at->file, name, gpu, &facts);
    return 0;
}

static int add_file(struct listing *l, const char *file, struct err *err)
{
    announce(file);
    json_auto_t *root = read_file(l, file, err);
    if (!root)
        return -1;
    const struct json_at at = {.value = root, .file = file};
    struct json_at kernels = json_member(&at, "kernels");
    json_array_append_new(l->files, json_pack("{s:s, s:O*}", "file", file, "kernels", kernels.value));
    l->late += json_integer_value(json_object_get(root, "late"));
    l->omitted += json_integer_value(json_object_get(root, "kernels_omitted"));
    if (json_array_size(kernels.value) == 0 &&
        (!l->wanted || json_is_false(json_object_get(root, "device_code"))))
        l->gone = file;
    for (size_t i = 0; i < json_array_size(kernels.value); i++) {
        struct json_at kernel = json_element(&kernels, i);
        if (add_kernel(l, &kernel, err) != 0)
            return -1;
    }
    return 0;
}

static void print_notes(const struct listing *l)
{
    const char *why;
    json_t *count;
    json_object_foreach(l->unknown, why, count)
        fprintf(stderr, "scratch memory or spills of %lld kernel%s are unknown: %s\n",
                (long long)json_integer_value(count), text_plural(json_integer_value(count)), why);
    if (l->late)
        fprintf(
            stderr,
            "instructions of %lld kernels were not counted in the time for all; select some with --kernel\n",
            (long long)l->late);
    if (l->omitted)
        fprintf(stderr, "%lld more kernels are not listed; select some with --kernel\n",
                (long long)l->omitted);
}

static void print_table(struct listing *l)
{
    AUTO(buf_release) struct buf text = {.max = TABLE_BYTES_MAX};
    table_drop_empty(&l->table, l->several ? 2 : 1);
    table_write_text(&l->table, cmd_screen(stdout), &text);
    cmd_print_fitted(&text, stdout);
}

static int list_files(struct listing *l, const char **words, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (add_file(l, words[i], err) != 0)
            return -1;
    if (l->gone)
        fprintf(stderr,
                "%s: no kernel that can be read: code objects and cubins are, alone, in bundles and fat "
                "binaries; relocatable device code is once it is linked\n",
                l->gone);
    print_notes(l);
    int rc = EXIT_DONE;
    if (l->env->json)
        rc = cmd_print_json(json_pack("{s:O}", "files", l->files));
    else if (l->kernels > 0)
        print_table(l);
    return l->kernels > 0 || rc != EXIT_DONE
               ? rc
               : err_set(err, ERR_INPUT, "resources: no kernel%s", l->wanted ? " that --kernel matches" : "");
}

static void release(struct listing *l)
{
    table_release(&l->table);
    json_decref(l->files);
    json_decref(l->unknown);
}

struct resources_args {
    const char *kernel;
};

static int resources(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct resources_args *a = args;
    AUTO(release)
    struct listing l = {.env = env,
                        .several = words->n > 1,
                        .wanted = a->kernel,
                        .files = json_array(),
                        .unknown = json_object()};
    table_init(&l.table);
    add_columns(&l.table, l.several);
    if (session_find_executor(l.executor, err) != 0)
        return -1;
    return list_files(&l, words->v, words->n, err);
}

#define AT(member) ARG_AT(struct resources_args, member)

static const struct arg options[] = {
    {"--kernel", "REGEX", AT(kernel),
     "only kernels whose name matches, as printed or as in the symbol table"},
};

const struct cmd cmd_resources = {
    .name = "resources",
    .summary = "show registers, memory and instructions of compiled kernels",
    .usage = "FILE... [--kernel REGEX]",
    .about = "Shows registers, memory and instructions of the kernels in compiled files.",
    .options = ARG_TABLE(struct resources_args, options),
    .min_words = 1,
    .max_words = FILES_MAX,
    .unlisted = CMD_STORE_OPTIONS | CMD_NODE_OPTIONS,
    .run = resources,
};
