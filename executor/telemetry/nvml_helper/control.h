/* control: the NVML helper as a command that does one thing and ends: locks a GPU's clocks, releases them, or
 * prints the settings of all GPUs. NVML changes clocks only for root. The caller waits for it with a
 * deadline.
 */
#pragma once

/* Exit codes. */
enum { NVML_CONTROL_DONE = 0, NVML_CONTROL_FAILED = 1, NVML_CONTROL_DENIED = 4, NVML_CONTROL_USAGE = 2 };

/* argv: "lock UUID MIN_MHZ MAX_MHZ", "release UUID", or "settings", which prints lines
 * "UUID<tab>KEY<tab>VALUE". Says on standard error what failed. */
int nvml_control(int argc, char **argv);

/* Loads NVIDIA's library, or the one that KERNSWEEP_NVML_LIBRARY names. NULL: it cannot be loaded. */
void *nvml_library(void);
/* function: the address of a pointer to the function of that name; it becomes NULL where there is none. */
void nvml_find(void *library, const char *name, void *function);
