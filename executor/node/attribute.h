/* attribute: small text files of procfs and sysfs, read as JSON values: bounded, and printable whatever the
 * file holds. Knows nothing of what they mean. The caller owns each result.
 */
#pragma once

#include <jansson.h>

/* Returns the first line of root/name, without white space at its end; NULL when it has none, or cannot be
 * read. */
json_t *attribute_line(const char *root, const char *name);
/* Returns the number in root/name; null when there is none, or all bits of 32 or 64 are set: who wrote it
 * does not know it. */
json_t *attribute_number(const char *root, const char *name);
/* Returns the rest of the first line "key<spaces>separator<spaces>value", quotes removed; null: none. */
json_t *attribute_keyed(const char *root, const char *name, const char *key, char separator);
/* Returns a property of a node of kfd's topology, whose "properties" has lines like "unique_id
 * 2094082018637021184"; 0: not there. */
unsigned long long attribute_property(const char *folder, const char *name);
