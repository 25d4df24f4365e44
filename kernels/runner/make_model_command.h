// `prefill make-model`: parses its options and writes the model.
#pragma once

int make_model_command(int argc, char **argv);
