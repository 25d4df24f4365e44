/* nvml_settings: what an administrator has set on NVIDIA's GPUs: persistence, ECC, MIG, power caps; and their
 * video BIOS. From the NVML helper; what cannot be read has no key.
 */
#pragma once

#include <jansson.h>

/* Adds to the objects of node.json's "gpus" whose unique_id NVML knows. */
void nvml_settings_add(json_t *gpus);
/* Does the same with the helper's output; changes text. */
void nvml_settings_parse(char *text, json_t *gpus);
