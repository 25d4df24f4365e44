/* local_transport: the back-end for the node "local": the same commands, run here, starting in the home
 * folder as a login would.
 */
#ifndef KERNSWEEP_HARNESS_TRANSPORT_LOCAL_H
#define KERNSWEEP_HARNESS_TRANSPORT_LOCAL_H

struct transport_ops;
extern const struct transport_ops local_transport_ops;

#endif
