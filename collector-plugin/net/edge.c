/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges of the network of node processes, over ZeroMQ; see collector-plugin/net/edge.h. */
#include "config.h"
#include "collector-plugin/net/edge.h"

#ifdef HAVE_ZMQ
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <zmq.h>

enum { LINGER_MS = 2000, HANDSHAKE_MS = 5000, MOST_MESSAGE = 8 << 20, BACKLOG = 4096, Z85 = 41 };

struct vt_edge {
	void *context, *socket;
	int listens;
	zmq_msg_t last; /* the message that was taken */
};

static int zmq_failed(struct tkm_err *err, const char *what)
{
	return tkm_fail(err, TKM_ERR_UNAVAIL, "%s: %s", what, zmq_strerror(zmq_errno()));
}

static void set_number(struct vt_edge *e, int option, int value)
{
	zmq_setsockopt(e->socket, option, &value, sizeof(value));
}

static struct vt_edge *open_edge(int type, struct tkm_err *err)
{
	struct vt_edge *e = calloc(1, sizeof(*e));

	if (!zmq_has("curve")) {
		free(e);
		tkm_fail(err, TKM_ERR_UNAVAIL, "the installed libzmq has no encryption (CURVE)");
		return NULL;
	}
	if (e) {
		zmq_msg_init(&e->last);
		e->listens = type == ZMQ_ROUTER;
		e->context = zmq_ctx_new();
		e->socket = e->context ? zmq_socket(e->context, type) : NULL;
	}
	if (!e || !e->socket) {
		zmq_failed(err, "no socket for node processes");
		vt_edge_close(e);
		return NULL;
	}
	set_number(e, ZMQ_LINGER, LINGER_MS);
	set_number(e, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
	set_number(e, ZMQ_BACKLOG, BACKLOG);
	zmq_setsockopt(e->socket, ZMQ_MAXMSGSIZE, &(int64_t){ MOST_MESSAGE }, sizeof(int64_t));
	return e;
}

/* The port that the kernel chose for the last address. */
static int bound_port(struct vt_edge *e)
{
	char at[256] = "";
	size_t n = sizeof(at);
	const char *colon;

	zmq_getsockopt(e->socket, ZMQ_LAST_ENDPOINT, at, &n);
	colon = strrchr(at, ':');
	return colon ? atoi(colon + 1) : 0;
}

/* Binds one port: that of all interfaces, or the same of each address. 0: the kernel chooses. Returns 0 or -1. */
static int bind_port(struct vt_edge *e, const struct vt_contact *c, int only, int port)
{
	char at[VT_CONTACT_HOST + 40];
	int i;

	for (i = 0; i < (only ? c->hosts : 1); i++) {
		const char *host = only ? c->host[i] : "*";
		int ipv6 = strchr(host, ':') != NULL;

		snprintf(at, sizeof(at), "tcp://%s%s%s:%d", ipv6 ? "[" : "", host, ipv6 ? "]" : "", port);
		if (zmq_bind(e->socket, at) < 0) {
			return -1;
		}
		port = bound_port(e);
	}
	return 0;
}

static int bind_some_port(struct vt_edge *e, struct vt_contact *c, int only, int low, int high, struct tkm_err *err)
{
	int ipv6, port;

	/* a kernel may have no IPv6 */
	for (ipv6 = 1; ipv6 >= 0; ipv6--) {
		set_number(e, ZMQ_IPV6, ipv6);
		if (low == 0 && bind_port(e, c, only, 0) == 0) {
			c->port = (uint16_t)bound_port(e);
			return 0;
		}
		for (port = low; low > 0 && port <= high; port++) {
			if (bind_port(e, c, only, port) == 0) {
				c->port = (uint16_t)port;
				return 0;
			}
		}
	}
	return low ? tkm_fail(err, TKM_ERR_UNAVAIL, "no port from %d to %d is free: %s", low, high,
			     zmq_strerror(zmq_errno()))
		   : zmq_failed(err, "no port can be opened");
}

struct vt_edge *vt_edge_listen(struct vt_contact *c, int only, int low, int high, struct tkm_err *err)
{
	struct vt_edge *e = open_edge(ZMQ_ROUTER, err);
	char public_key[Z85], secret[Z85];

	if (!e) {
		return NULL;
	}
	if (zmq_curve_keypair(public_key, secret) < 0 || !zmq_z85_decode(c->key, public_key)) {
		zmq_failed(err, "no key");
		vt_edge_close(e);
		return NULL;
	}
	set_number(e, ZMQ_CURVE_SERVER, 1);
	zmq_setsockopt(e->socket, ZMQ_CURVE_SECRETKEY, secret, sizeof(secret));
	/* a peer that connects again keeps its name; a message to a peer that is gone is an error */
	set_number(e, ZMQ_ROUTER_HANDOVER, 1);
	set_number(e, ZMQ_ROUTER_MANDATORY, 1);
	explicit_bzero(secret, sizeof(secret));
	if (bind_some_port(e, c, only, low, high, err) < 0) {
		vt_edge_close(e);
		return NULL;
	}
	return e;
}

struct vt_edge *vt_edge_connect(const struct vt_contact *c, int i, struct tkm_err *err)
{
	struct vt_edge *e = open_edge(ZMQ_DEALER, err);
	char server[Z85], public_key[Z85], secret[Z85], at[VT_CONTACT_HOST + 40];
	struct vt_peer name;
	int ipv6 = strchr(c->host[i], ':') != NULL;

	if (!e) {
		return NULL;
	}
	if (getrandom(&name, sizeof(name), 0) != (ssize_t)sizeof(name) || zmq_curve_keypair(public_key, secret) < 0 ||
		!zmq_z85_encode(server, c->key, sizeof(c->key))) {
		zmq_failed(err, "no key");
		vt_edge_close(e);
		return NULL;
	}
	name.name[0] |= 1; /* names that begin with a zero byte are those that ZeroMQ gives */
	set_number(e, ZMQ_IPV6, 1);
	zmq_setsockopt(e->socket, ZMQ_ROUTING_ID, &name, sizeof(name));
	zmq_setsockopt(e->socket, ZMQ_CURVE_SERVERKEY, server, sizeof(server));
	zmq_setsockopt(e->socket, ZMQ_CURVE_PUBLICKEY, public_key, sizeof(public_key));
	zmq_setsockopt(e->socket, ZMQ_CURVE_SECRETKEY, secret, sizeof(secret));
	explicit_bzero(secret, sizeof(secret));
	snprintf(at, sizeof(at), "tcp://%s%s%s:%u", ipv6 ? "[" : "", c->host[i], ipv6 ? "]" : "", c->port);
	if (zmq_connect(e->socket, at) < 0) {
		zmq_failed(err, at);
		vt_edge_close(e);
		return NULL;
	}
	return e;
}

int vt_edge_send(struct vt_edge *e, const struct vt_peer *to, const struct vt_net_message *m)
{
	size_t n = vt_net_encode(m, NULL, 0);
	zmq_msg_t z;

	if (n == 0 || zmq_msg_init_size(&z, n) < 0) {
		return -1;
	}
	vt_net_encode(m, zmq_msg_data(&z), n);
	if ((e->listens && zmq_send(e->socket, to, sizeof(*to), ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0) ||
		zmq_msg_send(&z, e->socket, ZMQ_DONTWAIT) < 0) {
		zmq_msg_close(&z);
		return -1;
	}
	return 0;
}

/* Takes one part. Returns 1 if more parts follow, 0 if it was the last, -1 if there is none. */
static int take_part(struct vt_edge *e)
{
	return zmq_msg_recv(&e->last, e->socket, ZMQ_DONTWAIT) < 0 ? -1 : zmq_msg_more(&e->last);
}

int vt_edge_receive(struct vt_edge *e, struct vt_peer *from, struct vt_net_message *m, struct tkm_err *err)
{
	int more = take_part(e), named = !e->listens;

	memset(from, 0, sizeof(*from));
	if (more < 0) {
		return 0;
	}
	if (e->listens && zmq_msg_size(&e->last) == sizeof(*from)) {
		memcpy(from, zmq_msg_data(&e->last), sizeof(*from));
		named = 1;
	}
	if (e->listens && more) {
		more = take_part(e);
	}
	if (more || !named) {
		while (more > 0) {
			more = take_part(e);
		}
		return tkm_fail(err, TKM_ERR_FORMAT, "a message of several parts, or of a peer without a name");
	}
	return vt_net_decode(zmq_msg_data(&e->last), zmq_msg_size(&e->last), m, err) < 0 ? -1 : 1;
}

void vt_edge_wait(struct vt_edge *e, struct pollfd *fd, int n, int ms)
{
	static zmq_pollitem_t item[VT_EDGE_POLLED + 1];
	int i;

	n = n < VT_EDGE_POLLED ? n : VT_EDGE_POLLED;
	item[0] = (zmq_pollitem_t){ e->socket, 0, ZMQ_POLLIN, 0 };
	for (i = 0; i < n; i++) {
		item[i + 1] = (zmq_pollitem_t){ NULL, fd[i].fd, ZMQ_POLLIN, 0 };
	}
	zmq_poll(item, n + 1, ms);
	for (i = 0; i < n; i++) {
		fd[i].revents = item[i + 1].revents ? POLLIN : 0;
	}
}

void vt_edge_close(struct vt_edge *e)
{
	if (e) {
		zmq_msg_close(&e->last);
		if (e->socket) {
			zmq_close(e->socket);
		}
		if (e->context) {
			zmq_ctx_term(e->context);
		}
		free(e);
	}
}

#else

static struct vt_edge *no_library(struct tkm_err *err)
{
	tkm_fail(err, TKM_ERR_UNAVAIL,
		"this installation was built without libzmq, over which node processes speak: install libzmq3-dev and build it "
		"again");
	return NULL;
}

struct vt_edge *vt_edge_listen(struct vt_contact *c, int only, int low, int high, struct tkm_err *err)
{
	(void)c;
	(void)only;
	(void)low;
	(void)high;
	return no_library(err);
}

struct vt_edge *vt_edge_connect(const struct vt_contact *c, int i, struct tkm_err *err)
{
	(void)c;
	(void)i;
	return no_library(err);
}

int vt_edge_send(struct vt_edge *e, const struct vt_peer *to, const struct vt_net_message *m)
{
	(void)e;
	(void)to;
	(void)m;
	return -1;
}

int vt_edge_receive(struct vt_edge *e, struct vt_peer *from, struct vt_net_message *m, struct tkm_err *err)
{
	(void)e;
	(void)from;
	(void)m;
	(void)err;
	return 0;
}

void vt_edge_wait(struct vt_edge *e, struct pollfd *fd, int n, int ms)
{
	(void)e;
	poll(fd, (nfds_t)n, ms);
}

void vt_edge_close(struct vt_edge *e)
{
	(void)e;
}
#endif
