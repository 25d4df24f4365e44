#include "executor/clocks/sclk_limits.h"

#include "common/base/fs.h"

#include <stdio.h>
#include <string.h>

static FILE *open_in(const char *device, const char *name)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, device, name) == 0 ? fopen(path, "re") : NULL;
}

/* Lines "0: 500Mhz", "1: 2100Mhz *"; one that starts with 'S' is the clock in deep sleep. */
static bool read_levels(const char *device, struct sclk_limits *out)
{
    char line[128];
    int index, mhz;
    FILE *f = open_in(device, "pp_dpm_sclk");
    *out = (struct sclk_limits){.min_mhz = 0};
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%d: %dM", &index, &mhz) != 2 || mhz <= 0)
            continue;
        out->min_mhz = out->min_mhz == 0 || mhz < out->min_mhz ? mhz : out->min_mhz;
        out->max_mhz = mhz > out->max_mhz ? mhz : out->max_mhz;
    }
    if (f)
        fclose(f);
    return out->min_mhz > 0;
}

/* Lines of the section "OD_SCLK:": "0: 500Mhz", the lower limit, and "1: 2100Mhz", the upper one. */
bool sclk_limits_read(const char *device, struct sclk_limits *out)
{
    char line[128];
    bool inside = false;
    int index, mhz;
    FILE *f = open_in(device, "pp_od_clk_voltage");
    *out = (struct sclk_limits){.min_mhz = 0};
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "OD_", 3) == 0 || strncmp(line, "GFXCLK", 6) == 0)
            inside = strncmp(line, "OD_SCLK", 7) == 0;
        else if (inside && sscanf(line, "%d: %dM", &index, &mhz) == 2 && (index == 0 || index == 1))
            *(index == 0 ? &out->min_mhz : &out->max_mhz) = mhz;
    }
    if (f)
        fclose(f);
    return (out->min_mhz > 0 && out->max_mhz >= out->min_mhz) || read_levels(device, out);
}
