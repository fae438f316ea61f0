/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv4 addresses of this node. */
#ifndef COLLECTOR_PLUGIN_HOST_PROGRAM_ADDRESS_H
#define COLLECTOR_PLUGIN_HOST_PROGRAM_ADDRESS_H

#include <stddef.h>

/* Writes the node's IPv4 addresses, except those of the loopback interface, separated by commas, as many as fit; ""
 * if there are none. They come from the interfaces. The name service would load its libraries into the program.
 * Returns buf. */
char *vt_own_addresses(char *buf, size_t size);

#endif
