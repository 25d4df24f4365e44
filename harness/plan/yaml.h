/* yaml: a YAML text as JSON. Plain scalars are typed by the core schema of YAML 1.2, so `no`, `on` and `1:30`
 * are texts. There is one document; keys are unique texts; aliases are copied; tags and merge keys are
 * refused. As the text is untrusted, its depth and the number of its values are limited, where a long text
 * counts as one value per YAML_TEXT_OF_VALUE bytes.
 */
#pragma once

#include "common/base/json.h"

enum { YAML_DEPTH_MAX = 32, YAML_COUNT_MAX = 100000, YAML_ANCHORS_MAX = 256, YAML_TEXT_OF_VALUE = 1024 };

/* NULL with err, "<file>:<line>:<column>: not valid YAML: ...". The caller json_decref()s. */
json_t *yaml_parse(const char *text, size_t len, const char *file, struct err *err);

/* Like json_scan_locate(); for a value within an alias, the position of the alias. */
struct json_mark yaml_locate(const char *text, size_t len, const char *path, bool key);
