/* SPDX-License-Identifier: BSD-3-Clause */
/* Where this node is in the network. */
#ifndef COLLECTOR_PLUGIN_ADDRESS_H
#define COLLECTOR_PLUGIN_ADDRESS_H

#include <stddef.h>

/* The node's IPv4 addresses but the loopback's, with commas between, as many as fit; "" if there are none. From the
 * interfaces, not from the name service, which would bring its libraries into the program. Returns buf. */
char *vt_own_addresses(char *buf, size_t size);

#endif
