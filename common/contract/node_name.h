/* node_name: how a user names a node: "local", an ssh alias, or [user@]host[:port], where host may be an IPv6
 * address in brackets. Plans and options are checked for it before anything connects; what an alias means
 * only ssh knows.
 */
#pragma once

#include <stdbool.h>

enum { NODE_NAME_MAX = 255 };

/* For messages: "expected " NODE_NAME_EXPECTED */
#define NODE_NAME_EXPECTED "an ssh alias, [user@]host[:port] or \"local\""

/* Its parts; port 0 and user "" when absent. */
struct node_name {
    char user[NODE_NAME_MAX + 1];
    char host[NODE_NAME_MAX + 1];
    int port;
};

/* Returns false if text is not a node's name. */
bool node_name_parse(const char *text, struct node_name *out);
bool node_name_is_valid(const char *text);
/* Returns the number of a port, 1 to 65535; 0 for any other text. */
int node_name_port(const char *text);
