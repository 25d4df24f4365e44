/* kernsweep report RUN: writes a report as Markdown or HTML. */
#include "reports/report.h"
#include "harness/commands/base/cmd.h"
#include "harness/commands/base/sweep_output.h"
#include "reports/ticket_report.h"
#include "results/query/find_run.h"
#include "results/query/sweep_runs.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct report_args {
    const char *against, *baseline, *kind, *lang, *format, *output, *reference;
};

static bool is_html(const char *file)
{
    const char *dot = file ? strrchr(file, '.') : NULL;
    return dot && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0);
}

/* Markdown in a file named .html is refused, as a browser would run what a node printed into it. */
static int choose_format(struct report_request *req, const struct report_args *a, struct err *err)
{
    if (a->format && !report_format_from_name(a->format, &req->format))
        return err_set(err, ERR_INPUT, "--format: expected md or html, found \"%.40s\"", a->format);
    if (!is_html(a->output))
        return 0;
    if (a->format && req->format != REPORT_HTML)
        return err_set(err, ERR_INPUT,
                       "--output %.200s: a browser would take this Markdown for HTML: name it .md",
                       a->output);
    req->format = REPORT_HTML;
    return 0;
}

static bool is_of_ticket(const struct report_args *a)
{
    return a->kind && strcmp(a->kind, "ticket") == 0;
}

static int fill_request(struct report_request *req, const struct report_args *a, struct err *err)
{
    if (a->against && a->baseline)
        return err_set(err, ERR_INPUT, "report: give --against or --baseline, not both");
    if (is_of_ticket(a) && (a->against || a->baseline || a->reference))
        return err_set(err, ERR_INPUT,
                       "report: --against, --baseline and --reference need one run: a ticket has several");
    if (a->kind && !is_of_ticket(a) && !report_kind_from_name(a->kind, &req->kind))
        return err_set(err, ERR_INPUT,
                       "--kind: expected prefill, regression, kernel, nightly or ticket, found \"%.40s\"",
                       a->kind);
    if (choose_format(req, a, err) != 0)
        return -1;
    req->n_langs = 0; /* the plan's */
    if (a->lang && !report_langs_from_names(a->lang, req))
        return err_set(err, ERR_INPUT, "--lang: expected en, es or en,es, found \"%.40s\"", a->lang);
    req->against = a->against;
    req->baseline = a->baseline;
    req->reference = a->reference;
    return 0;
}

/* "-" means stdout, as does no name. */
static bool is_file(const char *output)
{
    return output && strcmp(output, "-") != 0;
}

static int write_out(const char *output, const struct buf *text, struct err *err)
{
    if (is_file(output))
        return fs_write_output(output, buf_str(text), err);
    cmd_print(text);
    return EXIT_DONE;
}

static int write_report(const struct report_request *asked, const char *output, struct err *err)
{
    struct report_request req = *asked;
    char dir[FS_PATH_MAX], href[FS_PATH_MAX], folder[FS_PATH_MAX];
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    bool file = is_file(output);
    if (file && req.format == REPORT_MD) {
        if (report_assets_beside(output, dir, href, err) != 0)
            return -1;
        req.asset_dir = dir;
        req.asset_href = href;
    }
    if (file && report_folder(output, folder))
        req.beside = folder;
    if (report_render(&req, &text, err) != 0)
        return -1;
    if (!buf_ok(&text))
        return err_set(err, ERR_INTERNAL, "report: larger than %d bytes", REPORT_BYTES_MAX);
    return write_out(output, &text, err);
}

/* Renders the side-by-side report of several nodes. */
static int render_sweep(const struct report_request *asked, const char *db, const char *sweep,
                        struct buf *text, struct err *err)
{
    struct sweep_node nodes[PLAN_NODES_MAX];
    struct sweep_record record;
    bool found;
    struct sweep_request req = {
        .store = asked->store, .sweep = sweep, .format = asked->format, .n_langs = asked->n_langs};
    memcpy(req.langs, asked->langs, sizeof req.langs);
    if (asked->against || asked->baseline || asked->reference)
        return err_set(err, ERR_INPUT,
                       "report: --against, --baseline and --reference need one run: %s has one per node",
                       sweep);
    if (sweep_find(&record, db, sweep, &found, err) != 0)
        return -1;
    if (found)
        sweep_output_nodes(&record, nodes, &req);
    return sweep_report_render(&req, text, err);
}

/* Finds the sweep of several nodes that the word names, in the store or among the sweeps' records. */
static int find_sweep(struct cmd_env *env, struct store *s, const char *word, char *sweep, struct err *err)
{
    struct sweep_record record;
    bool found = false;
    if (sweep_runs_find(s, word, sweep, err) != 0 ||
        (!*sweep && strcmp(word, "latest") != 0 && sweep_find(&record, env->db, word, &found, err) != 0))
        return -1;
    if (found)
        snprintf(sweep, RUN_ID_MAX, "%s", record.id);
    return 0;
}

static int write_sweep(const struct report_request *asked, const char *db, const char *sweep,
                       const char *output, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    return render_sweep(asked, db, sweep, &text, err) != 0 ? -1 : write_out(output, &text, err);
}

/* The ticket that the word names, or that of the run that it names. */
static int write_ticket(const struct report_request *asked, const char *output, struct err *err)
{
    struct report_request req = *asked;
    char folder[FS_PATH_MAX];
    AUTO(run_data_release) struct run_data run = {0};
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    int is_ticket = strcmp(req.run, "latest") == 0 ? 0 : store_find_ticket(req.store, req.run, err);
    if (is_ticket < 0 || (!is_ticket && store_load_run(req.store, req.run, &run, err) != 0))
        return -1;
    if (is_file(output) && report_folder(output, folder))
        req.beside = folder;
    return ticket_report_render(&req, is_ticket ? req.run : run.info.ticket, &text, err) != 0
               ? -1
               : write_out(output, &text, err);
}

static int report(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct report_args *a = args;
    const char *word = words->v[0];
    AUTO(store_close) struct store s = {0};
    struct report_request req = report_defaults();
    char sweep[RUN_ID_MAX] = "";
    req.store = &s;
    req.run = word;
    if (fill_request(&req, a, err) != 0 || (is_file(a->output) && fs_check_output(a->output, err) != 0) ||
        cmd_store_open(env, &s, STORE_READ, err) != 0)
        return -1;
    if (is_of_ticket(a))
        return write_ticket(&req, a->output, err);
    if (find_sweep(env, &s, word, sweep, err) != 0)
        return -1;
    return *sweep ? write_sweep(&req, env->db, sweep, a->output, err) : write_report(&req, a->output, err);
}

#define AT(member) ARG_AT(struct report_args, member)

static const struct arg options[] = {
    {"--against", "RUN", AT(against), "compare with this run"},
    {"--baseline", "NAME", AT(baseline), "compare with this stored baseline"},
    {"--kind", "KIND", AT(kind), "prefill (default), regression, kernel or nightly; ticket: all of its runs"},
    {"--lang", "LIST", AT(lang), "en, es, or en,es (default: the plan's \"languages\", else en)"},
    {"--format", "FORMAT", AT(format), "md or html (default: as the file is named, else md)"},
    {"--reference", "VARIANT", AT(reference), "the variant with which the others are compared"},
    {"-o,--output", "FILE", AT(output), "file for the report (default stdout)"},
};

const struct cmd cmd_report = {
    .name = "report",
    .summary = "write a report of a stored run",
    .usage = "RUN|SWEEP|TICKET [options]",
    .about =
        "Writes a report of a stored run, of a sweep of several nodes side by side, or (--kind ticket) of "
        "a ticket over its dates.",
    .options = ARG_TABLE(struct report_args, options),
    .min_words = 1,
    .max_words = 1,
    .without = CMD_JSON,
    .unlisted = CMD_NODE_OPTIONS,
    .run = report,
};
