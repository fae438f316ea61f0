/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/host/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

char *vt_own_addresses(char *buf, size_t size)
{
	struct ifaddrs *all = NULL, *i;
	size_t at = 0;

	buf[0] = '\0';
	if (getifaddrs(&all) < 0) {
		return buf;
	}
	for (i = all; i; i = i->ifa_next) {
		char text[INET_ADDRSTRLEN];

		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) ||
			!inet_ntop(
				AF_INET, &((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, text, sizeof(text)) ||
			at + strlen(text) + 2 > size) {
			continue;
		}
		if (at > 0) {
			buf[at++] = ',';
		}
		strcpy(buf + at, text);
		at += strlen(text);
	}
	freeifaddrs(all);
	return buf;
}
