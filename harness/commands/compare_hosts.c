#include "harness/commands/compare_hosts.h"

#include "reports/report.h"
#include "reports/tables/terminal.h"
#include "results/judge/hosts.h"

#include <stdlib.h>

static json_t *encode(const struct run_data *run, enum metric m, const struct host_standing *hosts, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:i, s:o, s:o, s:s}", "node", hosts[i].host,
                                              "tests", hosts[i].tests, "cells", hosts[i].cells, "worse",
                                              hosts[i].worse, "ratio", cmd_json_number(hosts[i].ratio),
                                              "p_adjusted", cmd_json_number(hosts[i].p), "verdict",
                                              host_speed_name(hosts[i].speed)));
    return json_pack("{s:s, s:s, s:o}", "run", run->info.run_id, "metric", metric_info(m)->name, "nodes",
                     list);
}

static int print_text(const struct host_standing *hosts, size_t n, struct err *err)
{
    struct buf text;
    buf_init(&text, REPORT_BYTES_MAX);
    int rc = terminal_hosts(hosts, n, cmd_colour(stdout), &text, err);
    if (rc == 0)
        cmd_print(&text);
    buf_release(&text);
    return rc;
}

int compare_hosts(const struct cmd_env *env, const struct run_data *run,
                  const struct compare_options *options, struct err *err)
{
    struct host_standing *hosts;
    size_t n;
    if (hosts_compare(run, options->metric, options, &hosts, &n, err) != 0)
        return -1;
    int rc = n > 1 ? 0
                   : err_set(err, ERR_INPUT,
                             "compare: --by node needs a run whose tests name at least two machines; those of"
                             " run %s name %s",
                             run->info.run_id, n ? "only one" : "none");
    if (rc == 0 && env->json)
        rc = cmd_print_json(encode(run, options->metric, hosts, n));
    else if (rc == 0)
        rc = print_text(hosts, n, err);
    free(hosts);
    return rc;
}
