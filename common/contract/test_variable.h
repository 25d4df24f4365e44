/* test_variable: environment variables that change how a test runs. What the login, sshd or a scheduler sets
 * reaches every test, so it is a fact of a run, as the driver is.
 */
#pragma once

#include <stdbool.h>

/* Whether the name belongs to a runtime or library that tests use. Those that choose GPUs do not count: which
 * GPUs a test had is recorded by itself. */
bool test_variable_matters(const char *name);
/* Whether its value is not for others to read, by its name. */
bool test_variable_is_private(const char *name);
/* Whether it serialises, traces or logs what a test does, so that its times are not those of normal use. */
bool test_variable_slows(const char *name, const char *value);
