/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/net/tcp.h"
#include "tests/lib/check.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct vt_contact hosts_of(const char *first, const char *second)
{
	struct vt_contact c = { .hosts = 2 };

	snprintf(c.host[0], sizeof(c.host[0]), "%s", first);
	snprintf(c.host[1], sizeof(c.host[1]), "%s", second);
	return c;
}

static void the_first_host_that_answers_is_taken(void)
{
	struct vt_contact c = hosts_of("no-such-host.invalid", "127.0.0.1");
	int port = 0, host = 0, listening, fd, there;
	struct tkm_err e = { TKM_OK, "" };
	char word[6] = "";

	listening = vt_tcp_listen(0, 0, &port, &e);
	CHECK(listening >= 0 && port > 0, "%s", e.text);
	fd = vt_tcp_connect(&c, port, 2, &host, &e);
	CHECK(fd >= 0 && host == 1, "host %d: %s", host, e.text);
	there = accept(listening, NULL, NULL);
	CHECK(vt_tcp_put(fd, "hello", 5, 1) == 0 && read(there, word, 5) == 5, "%s", strerror(errno));
	CHECK_STR(word, "hello");
	close(there);
	close(fd);
	close(listening);
}

static void an_error_names_each_address_that_was_tried(void)
{
	struct vt_contact c = hosts_of("127.0.0.1", "127.0.0.2");
	int port = 0, host = 0, listening;
	struct tkm_err e = { TKM_OK, "" };

	listening = vt_tcp_listen(0, 0, &port, &e);
	close(listening);
	CHECK(vt_tcp_connect(&c, port, 1, &host, &e) < 0, "port %d is open", port);
	CHECK(strstr(e.text, "127.0.0.1") && strstr(e.text, "127.0.0.2") && strstr(e.text, "refused"), "%s", e.text);
}

static void a_port_of_a_range_is_taken_once(void)
{
	int port = 0, again = 0, first, second;
	struct tkm_err e = { TKM_OK, "" };

	first = vt_tcp_listen(20000, 30000, &port, &e);
	CHECK(first >= 0 && port >= 20000 && port <= 30000, "port %d: %s", port, e.text);
	second = vt_tcp_listen(port, port, &again, &e);
	CHECK(second < 0 && strstr(e.text, "no port"), "%s", e.text);
	close(first);
}

int main(void)
{
	RUN(the_first_host_that_answers_is_taken);
	RUN(an_error_names_each_address_that_was_tried);
	RUN(a_port_of_a_range_is_taken_once);
	return check_end();
}
