/* copy: a whole tree copied on the node, by a child that can be stopped like any other, without using disk
 * space for it where the file system shares blocks between files.
 */
#pragma once

#include "executor/suite/suite.h"

/* 1 copied; 0 not, and why (char[REASON_MAX]) says so: no space, or told to stop; -1 for faults of our own.
 */
int copy_tree(struct suite *s, const char *from, const char *to, char *why, struct err *err);
