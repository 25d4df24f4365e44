// `prefill` with a model: load it, prefill a prompt, decode greedily, and say what took how long and how much
// memory. Prints as the harness expects.
#pragma once

// Returns the exit code; throws struct failure.
int run_model(int argc, char **argv);
