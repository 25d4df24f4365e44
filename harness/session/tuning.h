/* tuning: judges how a GPU node is set up, from its facts (node.json): what an expert would look at before
 * believing a number measured there. AMD Instinct GPUs are held to AMD's guide for MI300X
 * (docs/nodes.md has the addresses), NVIDIA's to what their driver reports.
 *
 * Pure. Only facts that are there are judged, so a node that hides its settings has no findings.
 */
#pragma once

#include "harness/session/finding.h"

void tuning_check(struct preflight *p, const json_t *node);
