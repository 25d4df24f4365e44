// `prefill make-model`: its command line.
#pragma once

int make_model_command(int argc, char **argv);
