#include "harness/session/node_runs.h"

#include <string.h>

json_t *node_runs(struct session *s, const char *run_id, struct err *err)
{
    const char *one[] = {"--run", run_id, NULL};
    return remote_call(&s->remote, "status", run_id ? one : NULL, NULL, 0, 0, err);
}

int node_runs_has(struct session *s, const char *run_id, bool *has, struct err *err)
{
    json_t *runs = node_runs(s, NULL, err), *run;
    size_t i;
    *has = false;
    json_array_foreach(runs, i, run)
    {
        const char *id = json_string_value(json_object_get(run, "run_id"));
        *has = *has || (id && strcmp(id, run_id) == 0);
    }
    int rc = runs ? 0 : -1;
    json_decref(runs);
    return rc;
}
