/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/net/edge.h"
#include "collector-plugin/net/tcp.h"
#include "tests/lib/check.h"

#include <unistd.h>

/* A contact names several addresses and one port. */
static void each_address_has_the_port_of_the_contact(void)
{
	struct vt_contact c = { .hosts = 2, .host = { "127.0.0.1", "127.0.0.2" } }, second = { .hosts = 1 };
	struct tkm_err e = { TKM_OK, "" };
	struct vt_edge *edge = vt_edge_listen(&c, 1, 0, 0, &e);
	int host = 0, fd, i;

	CHECK(edge && c.port > 0, "%s", e.text);
	for (i = 0; i < c.hosts; i++) {
		snprintf(second.host[0], sizeof(second.host[0]), "%s", c.host[i]);
		fd = vt_tcp_connect(&second, c.port, 2, &host, &e);
		CHECK(fd >= 0, "%s: %s", c.host[i], e.text);
		close(fd);
	}
	vt_edge_close(edge);
}

int main(void)
{
	struct vt_contact c = { .hosts = 1, .host = { "127.0.0.1" } };
	struct tkm_err e = { TKM_OK, "" };
	struct vt_edge *edge = vt_edge_listen(&c, 1, 0, 0, &e);

	vt_edge_close(edge);
	if (!edge && strstr(e.text, "libzmq")) {
		printf("1..0 # SKIP %s\n", e.text);
		return 0;
	}
	RUN(each_address_has_the_port_of_the_contact);
	return check_end();
}
