/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that were started first wait with contacts of their own (waiting.c). Each is told the word of the job. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector-plugin/attach/attach.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/net/tcp.h"

#define ANSWER_NS 5000000000ll

enum { CONNECT_S = 3, STEP_MS = 200 };

int vt_server_read_client(const char *contact, struct vt_contact *c, struct tkm_err *err)
{
	size_t n = strlen(contact), mark = strlen(VT_CONTACT_WAITS);
	char word[VT_CONTACT_WORD];

	if (n < sizeof(word) && n > mark && !strcmp(contact + n - mark, VT_CONTACT_WAITS)) {
		snprintf(word, sizeof(word), "%.*s", (int)(n - mark), contact);
		return vt_contact_read(word, c, err);
	}
	return tkm_fail(err, TKM_ERR_ARG,
		"not a contact of a client that waits for its server, HOST[,HOST...]:PORT:KEY" VT_CONTACT_WAITS);
}

/* Copies the next of the contacts, with a blank between. Returns what follows, or NULL: there is none. */
static const char *next_contact(const char *contacts, char *to, size_t size)
{
	size_t n;

	contacts += strspn(contacts, " ");
	n = strcspn(contacts, " ");
	snprintf(to, size, "%.*s", (int)(n < size ? n : size - 1), contacts);
	return n ? contacts + n : NULL;
}

/* Waits until the client has taken the word. Returns 0 or -1. */
static int wait_until_taken(struct vt_edge *edge, struct tkm_err *err)
{
	int64_t until = vt_now_ns(CLOCK_MONOTONIC) + ANSWER_NS;
	struct vt_net_message m;
	struct vt_peer from;
	int rc;

	while (vt_now_ns(CLOCK_MONOTONIC) < until) {
		vt_edge_wait(edge, NULL, 0, STEP_MS);
		while ((rc = vt_edge_receive(edge, &from, &m, err)) != 0) {
			if (rc > 0 && m.kind == VT_NET_GOT) {
				return 0;
			}
			if (rc > 0 && m.kind == VT_NET_REFUSED) {
				return tkm_fail(err, TKM_ERR_UNAVAIL, "%.*s", (int)m.text[0].n, m.text[0].at);
			}
		}
	}
	return tkm_fail(err, TKM_ERR_TIMEOUT, "no answer within %lld s: another process is there, or the key is wrong",
		ANSWER_NS / 1000000000);
}

/* word: "" asks whether the client would take one. */
static int call_client(const char *contact, const char *word, struct tkm_err *err)
{
	struct vt_contact c;
	struct vt_edge *edge;
	int host = 0, rc, fd = vt_server_read_client(contact, &c, err);

	fd = fd < 0 ? -1 : vt_tcp_connect(&c, c.port, CONNECT_S, &host, err);
	if (fd < 0) {
		return -1;
	}
	close(fd);
	edge = vt_edge_connect(&c, host, err);
	if (!edge) {
		return -1;
	}
	vt_edge_send(edge, NULL,
		&(struct vt_net_message){ .kind = VT_NET_WORD,
			.number = { VT_NET_VERSION },
			.text = { vt_net_text_of(word, strlen(word)) } });
	rc = wait_until_taken(edge, err);
	vt_edge_close(edge);
	return rc;
}

int vt_server_call_clients(struct vt_server *s, const char *word, const char *contacts, struct tkm_err *err)
{
	char contact[VT_CONTACT_WORD + 8];
	struct vt_contact c;
	struct tkm_err why;
	const char *at;
	int round, n, rc;

	/* a client that has taken a word may not take another one, so the first is told when all can be reached */
	for (round = 0; round < 3; round++) {
		n = 0;
		for (at = contacts; (at = next_contact(at, contact, sizeof(contact)));) {
			n++;
			rc = round ? call_client(contact, round == 1 ? "" : word, &why)
				   : vt_server_read_client(contact, &c, &why);
			if (rc < 0) {
				/* not the key, which is a secret */
				return tkm_fail(err, why.code, "cannot reach client %d, contact %.*s: %s", n,
					(int)strcspn(contact, ":"), contact, why.text);
			}
		}
		s->called = n;
	}
	return 0;
}
