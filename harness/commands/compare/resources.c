/* kernsweep resources: registers, memory and instructions of the kernels in compiled files. They are read by
 * the executor, so this is the same code as on the node. */
#include "common/base/json.h"
#include "common/base/regex.h"
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

enum { FILES_MAX = 256, DEADLINE_S = 180, TABLE_BYTES_MAX = 16 << 20 };

struct listing {
    struct cmd_env *env;
    char executor[FS_PATH_MAX];
    struct regex *wanted; /* NULL: all kernels */
    struct table table;
    json_t *files; /* for --json */
    size_t kernels;
    bool several;     /* whether there are several files */
    const char *gone; /* a file without readable code; NULL: none */
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
    const char *const argv[] = {l->executor, "resources", "--path", file, NULL};
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

static int is_wanted(const struct listing *l, const char *name, struct err *err)
{
    const struct symbol_title title = symbol_title(name);
    if (!l->wanted)
        return 1;
    int rc = regex_match(l->wanted, name, strlen(name), 0, err);
    return rc == 0 ? regex_match(l->wanted, title.s, strlen(title.s), 0, err) : rc;
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

static int add_kernel(struct listing *l, const json_t *kernels, size_t i, const struct json_at *at,
                      json_t *kept, struct err *err)
{
    const char *name, *gpu = json_string_value(json_object_get(at->value, "gpu"));
    struct kernel_facts facts;
    if (json_get_str(at, "name", &name, err) != 0 || kernel_facts_decode(at, &facts, err) != 0)
        return -1;
    int wanted = is_wanted(l, name, err);
    if (wanted <= 0)
        return wanted;
    l->kernels++;
    json_array_append(kept, json_array_get(kernels, i));
    add_row(l, at->file, name, gpu, &facts);
    return 0;
}

static int add_file(struct listing *l, const char *file, struct err *err)
{
    json_auto_t *root = read_file(l, file, err);
    if (!root)
        return -1;
    const struct json_at at = {.value = root, .file = file};
    struct json_at kernels = json_member(&at, "kernels");
    json_t *kept = json_array();
    json_array_append_new(l->files, json_pack("{s:s, s:o}", "file", file, "kernels", kept));
    if (json_array_size(kernels.value) == 0)
        l->gone = file;
    for (size_t i = 0; i < json_array_size(kernels.value); i++) {
        struct json_at kernel = json_element(&kernels, i);
        if (add_kernel(l, kernels.value, i, &kernel, kept, err) != 0)
            return -1;
    }
    return 0;
}

static void print_table(struct listing *l)
{
    AUTO(buf_release) struct buf text = {.max = TABLE_BYTES_MAX};
    table_drop_empty(&l->table, l->several ? 2 : 1);
    table_write_text(&l->table, cmd_colour(stdout), &text);
    cmd_print(&text);
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
}

struct resources_args {
    const char *kernel;
};

static int resources(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct resources_args *a = args;
    const char *kernel = a->kernel;
    AUTO(release) struct listing l = {.env = env, .several = words->n > 1, .files = json_array()};
    AUTO(regex_release) struct regex regex = {0};
    table_init(&l.table);
    add_columns(&l.table, l.several);
    if (session_find_executor(l.executor, err) != 0)
        return -1;
    if (kernel && regex_compile(&regex, kernel, err) != 0)
        return err_wrap(err, "--kernel");
    l.wanted = kernel ? &regex : NULL;
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
