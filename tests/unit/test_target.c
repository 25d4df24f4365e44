/* target: which GPUs run code, by the name that it was compiled for. */
#include "executor/code/target.h"
#include "tests/unit/support.h"

#include <limits.h>

TEST(code_runs_on_the_gpus_that_its_name_takes)
{
    static const struct {
        const char *gpu, *takes, *refuses; /* names, the first preferred */
    } cases[] = {
        {"gfx942",
         "gfx942 gfx942:xnack+ gfx942:sramecc+:xnack- gfx942:xnack- gfx9-4-generic gfx9-4-generic:xnack+ "
         "amdgcnspirv",
         "gfx90a gfx950 gfx9-generic gfx942:sramecc- gfx9420 sm_90"},
        {"gfx942:xnack-", "gfx942:xnack- gfx942 gfx9-4-generic",
         "gfx942:xnack+ gfx942:sramecc+:xnack+ gfx9-4-generic:xnack+"},
        {"gfx90a:sramecc+:xnack+", "gfx90a:xnack+ gfx90a", "gfx90a:xnack- gfx9-4-generic gfx9-generic"},
        {"gfx906", "gfx906:sramecc- gfx906+sram-ecc gfx9-generic", "gfx908 gfx9-4-generic gfx90"},
        {"gfx950", "gfx950 gfx9-4-generic", "gfx942"},
        {"gfx1012", "gfx1012 gfx10-1-generic", "gfx10-3-generic gfx1010"},
        {"gfx1153", "gfx1153 gfx11-generic", "gfx11-7-generic gfx1100"},
        {"gfx1170", "gfx1170 gfx11-7-generic", "gfx11-generic"},
        {"gfx1201", "gfx12-generic", "gfx12-5-generic"},
        {"gfx1250", "gfx1250 gfx12-5-generic", "gfx12-generic gfx1251"},
        {"sm_90", "sm_90a sm_90 compute_90a compute_90 compute_80",
         "sm_80 sm_100 compute_100 sm_90b gfx942 sm_"},
        {"sm_86", "sm_86 sm_80 compute_86 compute_80 compute_52", "sm_89 sm_87 compute_89 sm_75"},
        {"sm_103", "sm_103a sm_103 sm_100f sm_100 compute_103f compute_100f compute_90",
         "sm_100a compute_100a sm_103b sm_110"},
        {"sm_121", "sm_121 sm_120f sm_120 compute_120f", "sm_120a compute_120a compute_100f sm_100f"},
        {"sm_120", "sm_120", "sm_121 sm_121f"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        AUTO_FREE char *takes = xstrdup(cases[i].takes), *refuses = xstrdup(cases[i].refuses);
        unsigned last = UINT_MAX;
        char *rest;
        for (char *name = strtok_r(takes, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
            unsigned rank = target_rank(name, cases[i].gpu);
            if (rank == 0 || rank > last)
                fail_msg("%s on %s: %u", name, cases[i].gpu, rank);
            last = rank;
        }
        for (char *name = strtok_r(refuses, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
            if (target_rank(name, cases[i].gpu))
                fail_msg("%s on %s", name, cases[i].gpu);
    }
}
