#include "harness/commands/base/sweep_output.h"

#include "common/base/json.h"
#include "harness/commands/base/finish.h"

#include <stdio.h>
#include <string.h>

void sweep_output_nodes(const struct sweep_record *w, struct sweep_node *out, struct sweep_request *req)
{
    for (size_t i = 0; i < w->count; i++)
        out[i] = (struct sweep_node){.node = w->member[i].node, .failure = w->member[i].failure};
    req->nodes = out;
    req->n_nodes = w->count;
    req->ticket = w->ticket;
}

/* The day's folder is that of the first bundle. */
static bool folder_of_day(const struct sweep_output *o, char *dir)
{
    size_t i;
    const json_t *node;
    json_array_foreach(o->nodes, i, node)
    {
        if (!*json_text(node, "bundle"))
            continue;
        fs_parent(json_text(node, "bundle"), dir);
        return true;
    }
    return false;
}

/* Sets both paths to "" if there is nothing to report. */
static int find_place(const struct sweep_output *o, char *markdown, char *html, struct err *err)
{
    char dir[FS_PATH_MAX], name[LIMIT_NAME + 8];
    *markdown = *html = '\0';
    if (!folder_of_day(o, dir))
        return 0;
    snprintf(name, sizeof name, "%s.md", o->sweep->id);
    if (o->report ? fs_join(markdown, err, "", o->report) != 0 : fs_join(markdown, err, dir, name) != 0)
        return -1;
    return finish_html_beside(markdown, html, err);
}

static int write_both(struct store *s, const struct sweep_output *o, const char *markdown, const char *html,
                      struct err *err)
{
    struct sweep_node nodes[PLAN_NODES_MAX];
    struct sweep_request req = {.store = s, .sweep = o->sweep->id};
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    AUTO(buf_release) struct buf page = {.max = REPORT_BYTES_MAX};
    sweep_output_nodes(o->sweep, nodes, &req);
    if (sweep_report_render_both(&req, &text, &page, err) != 0 ||
        fs_write_output(markdown, buf_str(&text), err) != 0)
        return -1;
    return fs_write_output(html, buf_str(&page), err);
}

int sweep_output_report(struct sweep_output *o, struct err *err)
{
    char markdown[FS_PATH_MAX], html[FS_PATH_MAX];
    AUTO(store_close) struct store s = {0};
    if (find_place(o, markdown, html, err) != 0)
        return -1;
    if (!*markdown)
        return 0;
    if (cmd_store_open(o->env, &s, STORE_READ, err) != 0 || write_both(&s, o, markdown, html, err) != 0)
        return -1;
    snprintf(o->sweep->report, sizeof o->sweep->report, "%s", markdown);
    return 0;
}

static void print_tables(const struct sweep_output *o)
{
    struct sweep_node nodes[PLAN_NODES_MAX];
    struct store s = {0};
    struct sweep_request req = {.store = &s, .sweep = o->sweep->id};
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    struct err err = {0};
    sweep_output_nodes(o->sweep, nodes, &req);
    if (cmd_store_open(o->env, &s, STORE_READ, &err) != 0 ||
        sweep_report_terminal(&req, cmd_screen(stdout), &text, &err) != 0)
        cmd_fail(&err);
    else {
        putchar('\n');
        cmd_print_fitted(&text, stdout);
    }
    store_close(&s);
}

static void print_lines(const json_t *node)
{
    size_t i;
    const json_t *line;
    json_array_foreach(json_object_get(node, "lines"), i, line)
    {
        const char *text = json_string_value(line);
        if (text)
            printf("%s%s: %s\n", i == 0 ? "\n" : "", json_text(node, "node"), text);
    }
}

static void print_text(const struct sweep_output *o)
{
    size_t i;
    const json_t *node;
    if (!o->quiet) {
        print_tables(o);
        json_array_foreach(o->nodes, i, node) print_lines(node);
        putchar('\n');
    }
    json_array_foreach(o->nodes, i, node)
    {
        if (*json_text(node, "bundle"))
            printf("%s: bundle  %s\n%s: report  %s\n", json_text(node, "node"), json_text(node, "bundle"),
                   json_text(node, "node"), json_text(node, "report"));
    }
    if (*o->sweep->report)
        printf("report  %s\n", o->sweep->report);
    fflush(stdout);
}

static void print_started(const struct sweep_output *o)
{
    size_t i;
    const json_t *node;
    json_array_foreach(o->nodes, i, node)
    {
        if (*json_text(node, "run_id"))
            puts(json_text(node, "run_id"));
    }
}

static void print_left(const struct sweep_output *o)
{
    fprintf(stderr,
            "the runs of sweep %s have not all ended: `kernsweep attach %s` follows them, `kernsweep cancel "
            "%s` cancels them\n",
            o->sweep->id, o->sweep->id, o->sweep->id);
}

void sweep_output_print(const struct sweep_output *o, bool started)
{
    if (started || o->code == EXIT_INTERRUPTED)
        print_left(o);
    if (o->env->json)
        cmd_print_json(json_pack("{s:s, s:s, s:O, s:i}", "sweep", o->sweep->id, "report", o->sweep->report,
                                 "nodes", o->nodes, "exit_code", o->code));
    else if (started)
        print_started(o);
    else if (o->code != EXIT_INTERRUPTED)
        print_text(o);
}
