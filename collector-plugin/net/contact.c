/* SPDX-License-Identifier: BSD-3-Clause */
/* Contacts of node processes; see collector-plugin/net/contact.h. */
#include "config.h"
#include "collector-plugin/net/contact.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_host_character(char c, int bracketed)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
		c == '_' || (bracketed && (c == ':' || c == '%'));
}

/* Reads one host at *at and moves *at after it. */
static int read_host(const char **at, char host[VT_CONTACT_HOST], struct tkm_err *err)
{
	int bracketed = **at == '[';
	const char *p = *at + bracketed;
	size_t n = 0;

	while (is_host_character(p[n], bracketed)) {
		n++;
	}
	if (n == 0 || n >= VT_CONTACT_HOST || (bracketed && p[n] != ']')) {
		return tkm_fail(err, TKM_ERR_ARG, "the contact is not HOST[,HOST...]:PORT:KEY: a host is missing");
	}
	memcpy(host, p, n);
	host[n] = '\0';
	*at = p + n + bracketed;
	return 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_key(const char *at, uint8_t key[VT_CONTACT_KEY])
{
	int i, high, low;

	for (i = 0; i < VT_CONTACT_KEY; i++) {
		high = hex_digit(at[2 * i]);
		low = high < 0 ? -1 : hex_digit(at[2 * i + 1]);
		if (low < 0) {
			return -1;
		}
		key[i] = (uint8_t)(high << 4 | low);
	}
	return at[2 * VT_CONTACT_KEY] ? -1 : 0;
}

int vt_contact_read(const char *word, struct vt_contact *c, struct tkm_err *err)
{
	const char *at = word;
	char *end;
	long port;

	memset(c, 0, sizeof(*c));
	do {
		at += c->hosts > 0;
		if (c->hosts == VT_CONTACT_HOSTS) {
			return tkm_fail(err, TKM_ERR_ARG, "the contact names more than %d hosts", VT_CONTACT_HOSTS);
		}
		if (read_host(&at, c->host[c->hosts], err) < 0) {
			return -1;
		}
		c->hosts++;
	} while (*at == ',');
	port = *at == ':' && at[1] >= '0' && at[1] <= '9' ? strtol(at + 1, &end, 10) : 0;
	if (port <= 0 || port > 65535 || *end != ':') {
		return tkm_fail(
			err, TKM_ERR_ARG, "the contact of %s is not HOST:PORT:KEY: there is no port", c->host[0]);
	}
	c->port = (uint16_t)port;
	if (read_key(end + 1, c->key) < 0) {
		return tkm_fail(err, TKM_ERR_ARG,
			"the contact of %s, port %ld, has no key of %d hexadecimal digits: was the word cut?",
			c->host[0], port, 2 * VT_CONTACT_KEY);
	}
	return 0;
}

int vt_contact_write(const struct vt_contact *c, char *word, size_t size)
{
	size_t n = 0;
	int i;

	for (i = 0; i < c->hosts && n < size; i++) {
		int ipv6 = strchr(c->host[i], ':') != NULL;

		n += (size_t)snprintf(
			word + n, size - n, "%s%s%s%s", i ? "," : "", ipv6 ? "[" : "", c->host[i], ipv6 ? "]" : "");
	}
	n += n < size ? (size_t)snprintf(word + n, size - n, ":%u:", c->port) : 0;
	for (i = 0; i < VT_CONTACT_KEY && n < size; i++) {
		n += (size_t)snprintf(word + n, size - n, "%02x", c->key[i]);
	}
	return n < size ? 0 : -1;
}

/* Writes the address, "" if it is of no use to other nodes. */
static void print_address(const struct ifaddrs *a, int loopback, char *to, size_t size)
{
	const void *address = NULL;
	int family = a->ifa_addr ? a->ifa_addr->sa_family : AF_UNSPEC;

	to[0] = '\0';
	if (!(a->ifa_flags & IFF_UP) || !(a->ifa_flags & IFF_LOOPBACK) != !loopback) {
		return;
	}
	if (family == AF_INET) {
		address = &((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr;
	} else if (family == AF_INET6) {
		address = &((const struct sockaddr_in6 *)(const void *)a->ifa_addr)->sin6_addr;
		address = IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)address) ? NULL : address;
	}
	if (!address || !inet_ntop(family, address, to, (socklen_t)size)) {
		to[0] = '\0';
	}
}

/* IPv4 first: a node may have IPv6 addresses that no router knows. */
static void add_addresses(
	struct vt_contact *c, const struct ifaddrs *all, const char *interface, int loopback, int family)
{
	const struct ifaddrs *a;
	char text[VT_CONTACT_HOST];

	for (a = all; a && c->hosts < VT_CONTACT_HOSTS; a = a->ifa_next) {
		if ((interface && strcmp(a->ifa_name, interface)) || !a->ifa_addr || a->ifa_addr->sa_family != family) {
			continue;
		}
		print_address(a, loopback, text, sizeof(text));
		if (text[0]) {
			memcpy(c->host[c->hosts++], text, sizeof(text));
		}
	}
}

int vt_contact_here(struct vt_contact *c, const char *interface, struct tkm_err *err)
{
	struct ifaddrs *all = NULL;
	int loopback;

	c->hosts = 0;
	if (getifaddrs(&all) < 0) {
		return tkm_fail(err, TKM_ERR_IO, "cannot list the addresses of this node");
	}
	for (loopback = 0; loopback < 2 && c->hosts == 0; loopback++) {
		add_addresses(c, all, interface, loopback, AF_INET);
		add_addresses(c, all, interface, loopback, AF_INET6);
	}
	freeifaddrs(all);
	if (c->hosts == 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "%s%s has no address, or is down",
			interface ? "interface " : "this node", interface ? interface : "");
	}
	return 0;
}

void vt_contact_find_place(long long *rank, long long *size)
{
	static const char *const names[][2] = { { "RANK", "WORLD_SIZE" }, { "SLURM_PROCID", "SLURM_NTASKS" },
		{ "PMI_RANK", "PMI_SIZE" } };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && *rank < 0; i++) {
		const char *r = secure_getenv(names[i][0]), *s = secure_getenv(names[i][1]);
		char *end = NULL;
		long n = r && *r ? strtol(r, &end, 10) : -1;

		if (n >= 0 && n < 1 << 20 && !*end) {
			*rank = n;
			*size = *size ? *size : s ? atoi(s) : 0;
		}
	}
}
