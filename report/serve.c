/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves one page on the loopback address. Another user of this machine can reach the port, but not guess the token, nor take all
 * connections; a page of another site can neither read an answer (there is no CORS) nor come by another name of this address (Host must be this one). */
#include "config.h"
#include "report/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "report/timeline/detail.h"

#ifndef HAVE_MICROHTTPD

int vtr_serve(const char *page, size_t n, struct vtr_timeline *l, struct tkm_err *err)
{
	(void)page;
	(void)n;
	(void)l;
	return tkm_fail(err, TKM_ERR_UNAVAIL,
		"--serve: this vtreport was built without libmicrohttpd; install libmicrohttpd-dev and configure again, "
		"or look at parts of the run by --window");
}

#else

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <microhttpd.h>
#include <netinet/in.h>

enum { TOKEN_BYTES = 16, DETAIL_BYTES = 1 << 20, LONGEST_WAIT_S = 60, CONNECTIONS = 32, OF_STRANGERS = 8 };

/* So long may a connection be idle that has not shown the token. */
enum { STRANGERS_WAIT_S = 5 };

struct server {
	const char *page;
	size_t n;
	struct vtr_timeline *timeline;
	char path[2 * TOKEN_BYTES + 3]; /* "/TOKEN/" */
	char host[2][40];               /* what a browser calls us */
	unsigned port;
	int diag;           /* a socket that asks the kernel whose a connection is */
	unsigned strangers; /* connections of other users; only the thread that serves uses it */
};

static int make_token(char *path)
{
	unsigned char byte[TOKEN_BYTES];
	int i;

	if (getrandom(byte, sizeof(byte), 0) != (ssize_t)sizeof(byte)) {
		return -1;
	}
	*path++ = '/';
	for (i = 0; i < TOKEN_BYTES; i++, path += 2) {
		snprintf(path, 3, "%02x", byte[i]);
	}
	strcpy(path, "/");
	return 0;
}

/* Takes as long for a wrong path as for the right one. */
static int has_token(const struct server *s, const char *url)
{
	size_t i, n = strlen(s->path);
	unsigned differs = 0;

	for (i = 0; strlen(url) >= n && i < n; i++) {
		differs |= (unsigned)(url[i] ^ s->path[i]);
	}
	return i == n && !differs;
}

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, const char *type, struct MHD_Response *r)
{
	enum MHD_Result rc = MHD_NO;

	if (r) {
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
		MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
		MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
		MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
		rc = MHD_queue_response(c, status, r);
		MHD_destroy_response(r);
	}
	return rc;
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned status, const char *text)
{
	return answer(c, status, "text/plain; charset=utf-8",
		MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT));
}

/* A time of the page as a stamp. Returns -1: it is none. */
static int stamp_of(struct MHD_Connection *c, const struct vtr_names *n, const char *name, uint64_t *to)
{
	const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
	char *end;
	unsigned long long units;

	if (!text || *text < '0' || *text > '9') {
		return -1;
	}
	errno = 0;
	units = strtoull(text, &end, 10);
	if (errno || *end || units > (n->end - n->origin) >> n->shift) {
		return -1;
	}
	*to = n->origin + ((uint64_t)units << n->shift);
	return 0;
}

/* GET detail?from=UNITS&to=UNITS. 204: it is too much for a page; a shorter stretch is needed. */
static enum MHD_Result answer_detail(struct MHD_Connection *c, struct server *s)
{
	struct vtr_names *names = &s->timeline->names;
	struct vtr_bytes b = { 0 };
	uint64_t from, to;
	char *text = NULL;
	size_t n = 0;
	FILE *f;
	int rc;

	if (stamp_of(c, names, "from", &from) < 0 || stamp_of(c, names, "to", &to) < 0 || from >= to) {
		return answer_text(c, MHD_HTTP_BAD_REQUEST, "detail needs from and to, times of the run\n");
	}
	rc = vtr_detail_read(&b, names, from, to, DETAIL_BYTES);
	f = rc == 1 ? open_memstream(&text, &n) : NULL;
	if (f) {
		vtr_bytes_write(f, &b);
		rc = fclose(f) == 0 ? 1 : -1;
	}
	vtr_bytes_free(&b);
	if (rc == 0) {
		return answer_text(c, MHD_HTTP_NO_CONTENT, "");
	}
	if (rc < 0 || !text) {
		free(text);
		return answer_text(
			c, MHD_HTTP_INTERNAL_SERVER_ERROR, "the trace cannot be read, or there is no memory\n");
	}
	return answer(c, MHD_HTTP_OK, "text/plain", MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result handle_request(void *user, struct MHD_Connection *c, const char *url, const char *method,
	const char *version, const char *upload, size_t *upload_size, void **state)
{
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	struct server *s = user;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)state;
	if (!host || (strcmp(host, s->host[0]) != 0 && strcmp(host, s->host[1]) != 0) || !has_token(s, url)) {
		return answer_text(
			c, MHD_HTTP_NOT_FOUND, "nothing is here: the address that vtreport printed is needed\n");
	}
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)LONGEST_WAIT_S);
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		return answer_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
	}
	url += strlen(s->path);
	if (!strcmp(url, "detail")) {
		return answer_detail(c, s);
	}
	if (*url) {
		return answer_text(c, MHD_HTTP_NOT_FOUND, "there is only the page, and detail\n");
	}
	return answer(c, MHD_HTTP_OK, "text/html; charset=utf-8",
		MHD_create_response_from_buffer(s->n, (void *)(uintptr_t)s->page, MHD_RESPMEM_PERSISTENT));
}

/* Does the other end of this connection belong to another user? The kernel says so by sock_diag(7), whatever the number of connections;
 * where it does not, nobody is a stranger. */
static int is_of_stranger(const struct server *s, const struct sockaddr *from)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)from;
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 asked;
	} q = { { sizeof(q), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0 },
		{ .sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = UINT32_MAX,
			.id = { .idiag_sport = in->sin_port,
				.idiag_dport = htons((uint16_t)s->port),
				.idiag_src = { in->sin_addr.s_addr },
				.idiag_dst = { htonl(INADDR_LOOPBACK) },
				.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } } };
	struct {
		struct nlmsghdr head;
		struct inet_diag_msg found;
		char more[4096];
	} r;
	ssize_t n = send(s->diag, &q, sizeof(q), 0) == sizeof(q) ? recv(s->diag, &r, sizeof(r), 0) : -1;

	return n >= (ssize_t)(sizeof(r.head) + sizeof(r.found)) && r.head.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
		r.found.idiag_uid != geteuid();
}

static enum MHD_Result accept_connection(void *user, const struct sockaddr *from, socklen_t n)
{
	struct server *s = user;

	(void)n;
	return s->strangers < OF_STRANGERS || !is_of_stranger(s, from) ? MHD_YES : MHD_NO;
}

/* state: of the connection; not NULL if it is one of another user. */
static void count_connection(
	void *user, struct MHD_Connection *c, void **state, enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *at = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct server *s = user;

	if (what == MHD_CONNECTION_NOTIFY_STARTED && at && is_of_stranger(s, at->client_addr)) {
		*state = s;
		s->strangers++;
	} else if (what == MHD_CONNECTION_NOTIFY_CLOSED && *state) {
		*state = NULL;
		s->strangers--;
	}
}

/* Waits in one thread for requests, and answers them one after the other: a trace has one reader. */
static struct MHD_Daemon *start_server(struct server *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct MHD_Daemon *d = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, accept_connection, s,
		handle_request, s, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&at, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)STRANGERS_WAIT_S,
		MHD_OPTION_NOTIFY_CONNECTION, count_connection, s, MHD_OPTION_END);
	const union MHD_DaemonInfo *port = d ? MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT) : NULL;

	s->port = port ? port->port : 0;
	snprintf(s->host[0], sizeof(s->host[0]), "127.0.0.1:%u", s->port);
	snprintf(s->host[1], sizeof(s->host[1]), "localhost:%u", s->port);
	return d;
}

int vtr_serve(const char *page, size_t n, struct vtr_timeline *l, struct tkm_err *err)
{
	struct server s = { .page = page,
		.n = n,
		.timeline = l,
		.diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG) };
	struct MHD_Daemon *d;
	sigset_t ends;
	int which;

	if (make_token(s.path) < 0) {
		return tkm_fail(err, TKM_ERR_IO, "--serve: no random numbers: %s", strerror(errno));
	}
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	d = start_server(&s);
	if (!d) {
		return tkm_fail(err, TKM_ERR_IO, "--serve: no port of 127.0.0.1 can be opened: %s", strerror(errno));
	}
	printf("http://%s%s\n", s.host[0], s.path);
	fflush(stdout);
	sigwait(&ends, &which);
	MHD_stop_daemon(d);
	close(s.diag);
	return 0;
}

#endif
