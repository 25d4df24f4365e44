/* local_transport: the back-end for the node "local": runs commands on this machine, in the home folder. */
#ifndef KERNSWEEP_HARNESS_TRANSPORT_LOCAL_H
#define KERNSWEEP_HARNESS_TRANSPORT_LOCAL_H

struct transport_ops;
extern const struct transport_ops local_transport_ops;

#endif
