#include "reports/plot/gnuplot.h"

#include "common/base/run.h"

int gnuplot_run(const struct buf *script, double deadline_s, struct buf *out, struct err *err)
{
    static const char *const argv[] = {"gnuplot", "-d", NULL};
    struct run_result res = {0};
    const struct run run = {.argv = argv,
                            .input = script->data,
                            .input_len = script->len,
                            .on_stdout = run_collect,
                            .on_stdout_arg = out,
                            .deadline_s = deadline_s};
    int rc = run_program(&run, &res, err);
    if (rc != 0)
        return res.stop == RUN_FAULT ? err_wrap(err, "gnuplot") : -1;
    if (res.exited && res.exit_code == SPAWN_NOT_FOUND)
        return err_set(err, ERR_STORAGE, "gnuplot is not installed (apt-get install gnuplot-nox)");
    return run_expect_success(&res, "gnuplot", err);
}
