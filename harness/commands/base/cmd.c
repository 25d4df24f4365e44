#include "harness/commands/base/cmd.h"

#include "common/base/alloc.h"
#include "common/base/colour.h"
#include "common/base/strvec.h"
#include "common/base/text.h"
#include "common/base/trace.h"
#include "harness/plan/document.h"
#include "harness/session/connect.h"
#include "results/store/location.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int choose_store(struct cmd_env *env, struct err *err)
{
    if (!env->db_option && store_default_path(env->db, err) != 0)
        return -1;
    if (env->db_option && (strlen(env->db_option) >= sizeof env->db || !*env->db_option))
        return err_set(err, ERR_INPUT, "--db: expected the path of a file");
    if (env->db_option)
        memcpy(env->db, env->db_option, strlen(env->db_option) + 1);
    if (strcmp(env->db, ":memory:") == 0)
        return err_set(err, ERR_INPUT, ":memory: would be gone when the command ends: name a file with --db");
    return 0;
}

/* ssh would wait for a pipe, and takes a folder for an empty file. */
static int check_ssh_config(const struct cmd_env *env, struct err *err)
{
    struct stat st, null;
    if (!env->ssh_config || stat(env->ssh_config, &st) != 0 || S_ISREG(st.st_mode) ||
        (S_ISCHR(st.st_mode) && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev))
        return 0;
    return err_set(err, ERR_INPUT, "--ssh-config: %.500s: not a regular file", env->ssh_config);
}

/* With --quiet, notes go to /dev/null, so that no command has to check. */
static int choose_notes(struct cmd_env *env, struct err *err)
{
    env->notes = env->quiet ? fopen("/dev/null", "we") : stderr;
    return env->notes ? 0 : err_set_errno(err, ERR_STORAGE, errno, "/dev/null: cannot open");
}

#define AT(member) ARG_AT(struct cmd_env, member)

enum { COMMON_TRANSPORT = 2, TABLE_BYTES_MAX = 64 << 20 };

/* The bits in cmd.h follow this order; parse() adds the kinds of transport. */
static const struct arg common[] = {
    {"--db", "FILE", AT(db_option), "the store (default $KERNSWEEP_DB, otherwise below XDG_DATA_HOME)"},
    {"-F,--ssh-config", "FILE", AT(ssh_config), "ssh configuration file, as for ssh -F"},
    [COMMON_TRANSPORT] = {"--transport", "KIND", AT(transport), NULL},
    {"--json", NULL, AT(json), "machine-readable output on stdout"},
    {"--color", "WHEN", AT(colour), "auto (default), always or never; NO_COLOR is honoured"},
    {"-q,--quiet", NULL, AT(quiet), "no progress and no notes: only results and errors"},
    {"-v,--verbose", NULL, AT(verbose), "show each command on the node and how long it took"},
    {"-h,--help", NULL, AT(help), "show this help"},
};

/* Returns 1 if the help was printed. */
static int parse(const struct cmd *cmd, struct cmd_env *env, void *args, struct words *words, int argc,
                 char **argv, struct err *err)
{
    char transports[128];
    struct arg shared[sizeof common / sizeof *common];
    memcpy(shared, common, sizeof shared);
    connect_list(transports, sizeof transports);
    shared[COMMON_TRANSPORT].help = transports;
    const struct args spec = {.program = "kernsweep",
                              .command = cmd->name,
                              .usage = cmd->usage,
                              .about = cmd->about,
                              .own = cmd->options,
                              .common = ARG_TABLE(struct cmd_env, shared),
                              .into = args,
                              .common_into = env,
                              .min_words = cmd->min_words,
                              .max_words = cmd->max_words,
                              .without = cmd->without,
                              .unlisted = cmd->unlisted};
    int rc = args_parse(&spec, argc, argv, words->v, &words->n, err);
    if (env->verbose)
        trace_verbose();
    if (env->help) {
        args_help(&spec, stdout);
        return 1;
    }
    if (rc != 0 || (env->colour && colour_choose(env->colour, err) != 0) || choose_notes(env, err) != 0)
        return -1;
    return check_ssh_config(env, err) != 0 ? -1 : choose_store(env, err);
}

int cmd_call(const struct cmd *cmd, struct cmd_env *env, int argc, char **argv)
{
    struct err err = {0};
    size_t size = cmd->options.size;
    AUTO_FREE void *args = cmd->defaults ? xmemdup(cmd->defaults, size) : xcalloc(1, size);
    AUTO_FREE const char **v = xcalloc(cmd->max_words + 1, sizeof *v);
    struct words words = {.v = v};
    int rc = parse(cmd, env, args, &words, argc, argv, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc == 0)
        rc = cmd->run(env, args, &words, &err);
    return rc < 0 ? cmd_fail(&err) : rc;
}

int cmd_fail(const struct err *err)
{
    fflush(stdout);
    fprintf(stderr, "kernsweep: %s\n", err->msg);
    return (int)exit_code_of(err);
}

bool cmd_reader_left(void)
{
    return fflush(stdout) != 0 && errno == EPIPE;
}

/* rc: of what was written so far. Drops the value, of which NULL could not be encoded. */
static int end_json(json_t *value, int rc)
{
    bool encoded = value != NULL;
    if (rc == 0 && (fputc('\n', stdout) == EOF || fflush(stdout) != 0))
        rc = -1;
    bool left = rc != 0 && encoded && (errno == EPIPE || cmd_reader_left());
    json_decref(value);
    if (rc == 0 || left)
        return EXIT_DONE;
    fprintf(stderr, "kernsweep: cannot write JSON to stdout\n");
    return EXIT_LOCAL;
}

int cmd_print_json(json_t *value)
{
    return end_json(value, value ? json_dumpf(value, stdout, JSON_INDENT(2) | JSON_SORT_KEYS) : -1);
}

/* Line ends are only between values: those within strings are escaped. */
static int put_indented(const char *data, size_t len, void *arg)
{
    const int *by = arg;
    for (size_t i = 0; i < len; i++)
        if (fputc(data[i], stdout) == EOF || (data[i] == '\n' && printf("%*s", *by, "") < 0))
            return -1;
    return 0;
}

static int put_value(json_t *value, int by)
{
    int rc = value ? json_dump_callback(value, put_indented, &by,
                                        JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENCODE_ANY)
                   : -1;
    json_decref(value);
    return rc;
}

static int put_rows(const struct cmd_rows *rows)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < rows->n; i++)
        rc = printf("%s\n    ", i ? "," : "[") < 0 ? -1 : put_value(rows->encode(rows->arg, i), 4);
    return rc == 0 && printf(rows->n ? "\n  ]" : "[]") < 0 ? -1 : rc;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int cmd_print_json_rows(json_t *object, const struct cmd_rows *rows)
{
    AUTO(strvec_release) struct strvec keys = {.v = NULL};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) strvec_push(&keys, key);
    strvec_push(&keys, rows->key);
    qsort(keys.v, keys.n, sizeof *keys.v, by_text);
    int rc = object ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < keys.n; i++) {
        value = json_object_get(object, keys.v[i]);
        rc = printf(i ? ",\n  " : "{\n  ") < 0 ? -1 : put_value(json_string(keys.v[i]), 0);
        if (rc == 0 && (rc = printf(": ") < 0 ? -1 : 0) == 0)
            rc = value ? put_value(json_incref(value), 2) : put_rows(rows);
    }
    return end_json(object, rc == 0 && printf("\n}") < 0 ? -1 : rc);
}

FILE *cmd_output_begin(const struct store *s)
{
    struct stat st;
    bool waits = fstat(STDOUT_FILENO, &st) == 0 && !S_ISREG(st.st_mode) && !location_has_log(s->path);
    FILE *file = waits ? tmpfile() : NULL;
    return file ? file : stdout;
}

int cmd_output_end(FILE *output, struct store *s)
{
    char data[1 << 16];
    size_t n;
    store_close(s);
    if (output == stdout)
        return fflush(stdout);
    bool failed = fflush(output) != 0;
    rewind(output);
    while (!failed && (n = fread(data, 1, sizeof data, output)) > 0)
        failed = fwrite(data, 1, n, stdout) != n;
    failed = failed || ferror(output) || fflush(stdout) != 0;
    int why = errno;
    fclose(output);
    errno = why;
    return failed ? -1 : 0;
}

void cmd_print(const struct buf *text)
{
    fwrite(buf_str(text), 1, text->len, stdout);
    fflush(stdout);
}

void cmd_print_fitted(const struct buf *text, FILE *out)
{
    AUTO(buf_release) struct buf fitted = {.max = 4 * text->max};
    text_wrap(buf_str(text), text_columns(out), &fitted);
    fwrite(buf_str(&fitted), 1, fitted.len, out);
    fflush(out);
}

void cmd_print_table(const struct table *t)
{
    AUTO(buf_release) struct buf text = {.max = TABLE_BYTES_MAX};
    table_write_text(t, cmd_screen(stdout), &text);
    cmd_print_fitted(&text, stdout);
}

bool cmd_colour(FILE *out)
{
    return colour_wanted(out);
}

struct screen cmd_screen(FILE *out)
{
    return (struct screen){.columns = text_columns(out), .colour = cmd_colour(out)};
}

static const char *colour_of(enum preflight_level l)
{
    switch (l) {
    case PREFLIGHT_OK:
        return "\033[32m";
    case PREFLIGHT_WARNING:
        return "\033[33m";
    case PREFLIGHT_BLOCKER:
        return "\033[31m";
    }
    return "";
}

void cmd_print_finding(const struct finding *f, FILE *out)
{
    bool colour = cmd_colour(out);
    AUTO(buf_release) struct buf text = {.max = 2 * sizeof *f};
    buf_printf(&text, "%s%-8s%s %-10s %s\n", colour ? colour_of(f->level) : "",
               preflight_level_name(f->level), colour ? "\033[0m" : "", f->subject, f->text);
    if (*f->remedy)
        buf_printf(&text, "%-8s %-10s -> %s\n", "", "", f->remedy);
    cmd_print_fitted(&text, out);
}

void cmd_print_blockers(const struct preflight *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->findings[i].level == PREFLIGHT_BLOCKER)
            cmd_print_finding(&p->findings[i], stderr);
}

void cmd_print_warnings(const char *where, int count, const char *first)
{
    if (count > 0)
        fprintf(stderr, "%s: %d warning%s, the first: %s\n", where, count, count == 1 ? "" : "s", first);
}

json_t *cmd_json_number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *cmd_json_carried(const struct run_carried *cells, size_t count)
{
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(all, json_pack("{s:s, s:i, s:s?, s:s}", "variant", cells[i].variant, "context",
                                             cells[i].context, "measured",
                                             *cells[i].measured ? cells[i].measured : NULL, "why",
                                             cells[i].budget ? "budget" : "unchanged"));
    return all;
}

int cmd_number(const char *option, const char *text, int64_t least, int64_t most, int64_t *out,
               struct err *err)
{
    char *end;
    if (!text)
        return 0;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (*end || end == text || errno || n < least || n > most)
        return err_set(err, ERR_INPUT, "%s: expected a number from %lld to %lld, found \"%.40s\"", option,
                       (long long)least, (long long)most, text);
    *out = n;
    return 0;
}

void cmd_note_lacking(FILE *notes, const struct run_data *run)
{
    size_t lacking = run->n_unmeasured + run->n_carried, all = run->n_cells + lacking;
    for (size_t i = 0; i < run->n_cells; i++)
        lacking += run->cells[i].status != STATUS_OK;
    if (lacking > 0)
        fprintf(notes,
                "note: %zu of the %zu cells of run %s are not OK: no comparison with this baseline finds a "
                "regression in them\n",
                lacking, all, run->info.run_id);
}

bool cmd_is_plan(const char *word)
{
    return plan_document_is_named(word);
}

int cmd_backend(const struct cmd_env *env, const char **out, struct err *err)
{
    *out = env->transport;
    return connect_check(env->transport, err);
}

int cmd_store_open(const struct cmd_env *env, struct store *s, enum store_mode mode, struct err *err)
{
    return store_open_heeding(s, env->db, mode, env->interrupted, err);
}
