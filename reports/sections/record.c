/* For the record: what nobody reads but everybody needs once: how to repeat the run, every fact of the node,
 * the raw numbers as JSON, the files and their hashes. It all stands behind one heading, at the end. */
#include "reports/sections/record.h"

void section_record(const struct report_model *m, struct md *w)
{
    const struct md_part part = md_part_begin(w, 2, MSG_H_RECORD);
    record_reproduction(m, w);
    record_node(m, w);
    record_metrics(m, w);
    record_artifacts(m, w);
    md_part_end(w, &part);
}
