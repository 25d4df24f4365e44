/* kernsweep open: shows a run's HTML report, or the index of the nightly runs, in the browser. */
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "common/base/strvec.h"
#include "harness/commands/base/cmd.h"
#include "reports/report.h"
#include "results/query/find_run.h"
#include "results/store/run_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORE_MARK = 12 };

struct open_args {
    const char *reports;
    bool print;
};

/* "<cache>/kernsweep/reports/<mark of the store>/<run id>.html" */
static int cache_path(const struct cmd_env *env, const char *run_id, char out[FS_PATH_MAX], struct err *err)
{
    char mark[SHA256_HEX_LEN + 1], below[32], folder[FS_PATH_MAX], name[RUN_ID_MAX + 8];
    AUTO_FREE char *db = realpath(env->db, NULL);
    sha256_of(db ? db : env->db, strlen(db ? db : env->db), mark);
    snprintf(below, sizeof below, "reports/%.*s", STORE_MARK, mark);
    snprintf(name, sizeof name, "%s.html", run_id);
    if (fs_cache_folder(below, folder, err) != 0)
        return err_wrap(err, "no page can be written (`kernsweep report -o FILE.html` writes one elsewhere)");
    return fs_join(out, err, folder, name);
}

static int render(struct store *s, const struct run_data *run, const char *page, struct buf *html,
                  struct err *err)
{
    char folder[FS_PATH_MAX];
    struct report_request req = report_defaults();
    req.store = s;
    req.run = run->info.run_id;
    req.n_langs = 0; /* the plan's */
    req.format = REPORT_HTML;
    req.beside = report_folder(page, folder) ? folder : NULL;
    return report_render(&req, html, err);
}

static int write_page(const struct cmd_env *env, struct store *s, const struct run_data *run,
                      char page[FS_PATH_MAX], struct err *err)
{
    AUTO(buf_release) struct buf html = {.max = REPORT_BYTES_MAX};
    if (cache_path(env, run->info.run_id, page, err) != 0)
        return -1;
    if (render(s, run, page, &html, err) != 0)
        return -1;
    if (!buf_ok(&html))
        return err_set(err, ERR_INTERNAL, "report: larger than %d bytes", REPORT_BYTES_MAX);
    return fs_write_file(page, buf_str(&html), html.len, 0600, err);
}

/* The id occurs only in pages of the run itself and of later runs that were compared with it. */
static bool mentions_run(const char *page, const char *run_id)
{
    AUTO(buf_release) struct buf html = {.max = REPORT_BYTES_MAX};
    bool found = fs_read_file(page, REPORT_BYTES_MAX, &html, NULL) == 0 && strstr(buf_str(&html), run_id);
    return found;
}

/* Finds the page that `run` wrote next to the bundle. Another run may have taken over the folder since, and
 * replaced the page or kept that of the earlier run. */
static bool find_beside(const struct run_info *run, char page[FS_PATH_MAX])
{
    int n = snprintf(page, FS_PATH_MAX, "%s.html", run->bundle);
    return n > 0 && n < FS_PATH_MAX && fs_exists(page) && run_folder_may_be_of(run->bundle, run->run_id) &&
           mentions_run(page, run->run_id);
}

/* Finds the page that `run` wrote, or `nightly` in its folder of reports. */
static bool find_written(const struct run_info *run, const char *reports, char page[FS_PATH_MAX])
{
    char path[FS_PATH_MAX];
    if (find_beside(run, page))
        return true;
    int n = snprintf(path, sizeof path, "%s/%s/%s/report.html", reports, run->date, run->run_id);
    AUTO_FREE char *real = n > 0 && n < (int)sizeof path ? realpath(path, NULL) : NULL;
    snprintf(page, FS_PATH_MAX, "%s", real ? real : "");
    return *page;
}

static int find_report(const struct cmd_env *env, const char *word, const char *reports,
                       char page[FS_PATH_MAX], struct err *err)
{
    AUTO(store_close) struct store s = {0};
    AUTO(run_data_release) struct run_data run = {0};
    if (cmd_store_open(env, &s, STORE_READ, err) != 0 || store_load_run(&s, word, &run, err) != 0)
        return -1;
    return find_written(&run.info, reports, page) ? 0 : write_page(env, &s, &run, page, err);
}

static int find_index(const char *reports, char page[FS_PATH_MAX], struct err *err)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, err, reports, "index.html") != 0)
        return -1;
    AUTO_FREE char *real = realpath(path, NULL);
    if (!real)
        return err_set(
            err, ERR_INPUT,
            "%.400s: no index of nightly runs here: `kernsweep nightly` writes it; name its folder "
            "with --reports DIR",
            path);
    snprintf(page, FS_PATH_MAX, "%s", real);
    return 0;
}

static void file_url(const char *path, struct buf *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    buf_puts(out, "file://");
    for (; *path; path++)
        if (strchr(plain, *path))
            buf_putc(out, *path);
        else
            buf_printf(out, "%%%02X", (unsigned char)*path);
}

/* Replaces this process, so that a text browser gets the terminal. Returns if the browser cannot be run. */
static void become(const char *browser, const char *url)
{
    char *argv[] = {(char *)browser, (char *)url, NULL};
    if (*browser)
        execvp(browser, argv);
}

static int show_page(const char *page, struct err *err)
{
    AUTO(buf_release) struct buf url = {.max = 3 * FS_PATH_MAX + 16};
    const char *list = getenv("BROWSER");
    bool screen = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    file_url(page, &url);
    for (const char *p = list ? list : ""; *p;) {
        char browser[FS_PATH_MAX];
        size_t n = strcspn(p, ":");
        snprintf(browser, sizeof browser, "%.*s", (int)n, p);
        become(browser, buf_str(&url));
        p += n + (p[n] == ':');
    }
    if (screen)
        become("xdg-open", buf_str(&url));
    return err_set(err, ERR_STORAGE, "no browser here (%s): the page is %.400s",
                   list && *list ? "$BROWSER cannot be run"
                   : screen      ? "$BROWSER is not set and xdg-open is not installed"
                                 : "$BROWSER is not set and there is no display",
                   page);
}

static int run_open(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct open_args *a = args;
    const char *word = words->n ? words->v[0] : "latest";
    char page[FS_PATH_MAX];
    if ((strcmp(word, "index") == 0 ? find_index(a->reports, page, err)
                                    : find_report(env, word, a->reports, page, err)) != 0)
        return -1;
    if (env->json)
        return cmd_print_json(json_pack("{s:s}", "page", page));
    if (!a->print)
        return show_page(page, err);
    puts(page);
    return EXIT_DONE;
}

#define AT(member) ARG_AT(struct open_args, member)

static const struct arg options[] = {
    {"--print", NULL, AT(print), "print the path of the page instead of opening it"},
    {"--reports", "DIR", AT(reports), "folder of the nightly reports (default ./nightly_reports)"},
};

const struct cmd cmd_open = {
    .name = "open",
    .summary = "open a report, or the index of nightly runs, in the browser",
    .usage = "[RUN | index]",
    .about = "Opens the HTML report of a run (default: latest) in $BROWSER or the desktop's browser, or the "
             "index of the nightly runs. A report that does not exist yet is written to the cache folder.",
    .options = ARG_TABLE(struct open_args, options),
    .defaults = &(const struct open_args){.reports = "nightly_reports"},
    .max_words = 1,
    .unlisted = CMD_NODE_OPTIONS,
    .run = run_open,
};
