/* clocks_control: one way to set a GPU's clocks, as a table of functions. Another way is one file with its
 * table, declared here, and one line in clocks_control.c. Callers hold the GPU's lock, and have written the
 * record that lets anybody put the clocks back (clocks_record.h).
 */
#pragma once

#include "common/base/err.h"
#include "common/contract/settings.h"
#include "executor/node/clocks_gpu.h"

struct clocks_request {
    enum clocks_mode mode; /* not CLOCKS_LEAVE */
    int mhz;
};

/* What came of trying to set something. Except for DONE, err says why. */
enum control_result {
    CONTROL_DONE,
    CONTROL_DENIED, /* nothing was changed: the privilege is missing, so another way may work */
    CONTROL_FAILED,
};

/* Clocks are held by a range or by determinism, and put back by these or by the level alone. A way without
 * these, or that does not show what is set, has its own hold() and put_back(). */
struct clocks_control {
    const char *name;
    bool (*works_with)(const struct clocks_gpu *gpu);
    enum control_result (*set_level)(const struct clocks_gpu *gpu, const char *level, struct err *err);
    enum control_result (*set_range)(const struct clocks_gpu *gpu, int min_mhz, int max_mhz, struct err *err);
    enum control_result (*set_determinism)(const struct clocks_gpu *gpu, int mhz, struct err *err);
    enum control_result (*hold)(const struct clocks_gpu *gpu, const struct clocks_request *want,
                                struct err *err);
    enum control_result (*put_back)(const struct clocks_gpu *gpu, const struct clocks_state *before,
                                    struct err *err);
};

extern const struct clocks_control clocks_by_sysfs, clocks_by_sysfs_number;
extern const struct clocks_control clocks_by_amd_smi;
extern const struct clocks_control clocks_by_rocm_smi;
extern const struct clocks_control clocks_by_nvml;

/* Holds the clocks in the first way that works, named in *through. CONTROL_DENIED: err says what to do. */
enum control_result control_hold(const struct clocks_gpu *gpu, const struct clocks_request *want,
                                 const char **through, struct err *err);
enum control_result control_put_back(const struct clocks_gpu *gpu, const struct clocks_state *before,
                                     struct err *err);

/* Gives the state that the request leads to, as far as it shows. */
void control_expected(const struct clocks_request *want, const struct clocks_state *before,
                      struct clocks_state *out);
