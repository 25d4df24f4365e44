// `prefill` with a model: loads it, prefills a prompt, decodes greedily, and reports times and memory. Its
// output follows the workload contract.
#pragma once

// Returns the exit code; throws struct failure.
int run_model(int argc, char **argv);
