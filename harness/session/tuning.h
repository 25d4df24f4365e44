/* tuning: judges from its facts (node.json) how a GPU node is set up, as an expert would before trusting
 * measurements made there. AMD Instinct GPUs are held to AMD's guide for MI300X (docs/nodes.md has the
 * addresses), NVIDIA GPUs to what their driver reports.
 *
 * Pure. Missing facts are not judged, so a node that hides its settings has no findings.
 */
#pragma once

#include "harness/session/finding.h"

void tuning_check(struct preflight *p, const json_t *node);
