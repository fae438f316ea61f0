/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP connections with limits, for clock sessions and for looking whether a contact can be reached. Libc only. */
#ifndef COLLECTOR_PLUGIN_NET_TCP_H
#define COLLECTOR_PLUGIN_NET_TCP_H

#include "collector-plugin/net/contact.h"

/* Listens at a port from low to high (0: any) on all interfaces. Returns a descriptor and sets *port, or -1 with err. */
int vt_tcp_listen(int low, int high, int *port, struct tkm_err *err);

/* Connects to the first host of the contact, from *host on, that answers at `port` within limit_s, and sets *host. Returns a descriptor,
 * or -1; err names each address that was tried, and why it failed. */
int vt_tcp_connect(const struct vt_contact *c, int port, double limit_s, int *host, struct tkm_err *err);

/* Sends n bytes within limit_s. Returns 0 or -1. */
int vt_tcp_put(int fd, const void *data, size_t n, double limit_s);

#endif
