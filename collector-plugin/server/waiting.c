/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for a client that was started before its server (VT_clientinit), because the client opens no socket. It gives the contact, at
 * which the server tells the word of its job, and tells that word to the processes of this user and node that ask: the client,
 * and those that it starts. It ends with the client. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector-plugin/attach/attach.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/settings/run_value.h"

#define SECOND_NS 1000000000ll

enum { STEP_MS = 500, MOST_ASKING = 256, QUEUE = 64 };

static struct {
	char word[VT_CONTACT_WORD]; /* of the job; "": not told yet */
	int handed_out;             /* to the client, or to one of its children */
	int listening;
	int asking[MOST_ASKING], n_asking;
	int64_t asked_ns; /* by the first of them */
} waiting = { .listening = -1 };

int vt_server_open_waiting(const char *contact, struct tkm_err *err)
{
	struct sockaddr_un name;
	char job[64];
	unsigned n;

	vt_word_job(contact, job, sizeof(job));
	n = vt_attach_name(job, 0, &name);
	waiting.listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (waiting.listening < 0 || bind(waiting.listening, (struct sockaddr *)&name, n) < 0 ||
		listen(waiting.listening, QUEUE) < 0) {
		return tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "no socket for the client");
	}
	return 0;
}

/* ---- the server ---- */

/* Without a word, a server asks whether this client would take one. The last server counts that came before a process asked: an
 * attempt of a server that failed may have told its word, too. */
static void take_word(struct vt_edge *edge, const struct vt_peer *from, const struct vt_net_message *m)
{
	struct vt_net_message answer = { .kind = VT_NET_GOT };
	char word[VT_CONTACT_WORD] = "", why[160] = "";
	struct vt_contact c;
	struct tkm_err e;

	vt_net_copy(&m->text[0], word, sizeof(word));
	if (m->number[0] != VT_NET_VERSION) {
		snprintf(why, sizeof(why), "the client has another version: %d instead of %llu", VT_NET_VERSION,
			(unsigned long long)m->number[0]);
	} else if (waiting.handed_out || (word[0] && !strcmp(waiting.word, word))) {
		snprintf(why, sizeof(why), "a server has contacted this client before");
	} else if (word[0] && vt_contact_read(word, &c, &e) < 0) {
		snprintf(why, sizeof(why), "%.150s", e.text);
	}
	if (why[0]) {
		answer.kind = VT_NET_REFUSED;
		answer.text[0] = vt_net_text_of(why, strlen(why));
	} else if (word[0]) {
		memcpy(waiting.word, word, sizeof(waiting.word));
	}
	vt_edge_send(edge, from, &answer);
}

/* ---- processes of this node ---- */

static void answer_asking(enum vt_attach_kind kind, const char *text)
{
	int i;

	for (i = 0; i < waiting.n_asking; i++) {
		vt_attach_send(waiting.asking[i], kind, text, strlen(text), -1);
		close(waiting.asking[i]);
	}
	waiting.n_asking = 0;
}

static void accept_asking(int64_t now)
{
	struct ucred who;
	socklen_t n = sizeof(who);
	struct vt_attach_head h;
	int fd = accept4(waiting.listening, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		return;
	}
	if (waiting.n_asking == MOST_ASKING || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 ||
		who.uid != geteuid() || vt_attach_receive(fd, &h, NULL, 0, now + SECOND_NS) < 0 ||
		h.kind != VT_ATTACH_WORD) {
		close(fd);
		return;
	}
	waiting.asked_ns = waiting.n_asking ? waiting.asked_ns : now;
	waiting.asking[waiting.n_asking++] = fd;
}

int vt_server_wait_for_server(struct vt_server *s, pid_t client)
{
	struct pollfd fd = { waiting.listening, POLLIN, 0 };
	struct vt_net_message m;
	struct vt_peer from;
	struct tkm_err e;
	char why[120];
	int64_t now;
	int rc;

	signal(SIGPIPE, SIG_IGN);
	while (kill(client, 0) == 0 || errno != ESRCH) {
		vt_edge_wait(s->edge, &fd, 1, STEP_MS);
		now = vt_now_ns(CLOCK_MONOTONIC);
		while ((rc = vt_edge_receive(s->edge, &from, &m, &e)) != 0) {
			if (rc > 0 && m.kind == VT_NET_WORD) {
				take_word(s->edge, &from, &m);
			}
		}
		if (fd.revents) {
			accept_asking(now);
		}
		if (waiting.word[0]) {
			waiting.handed_out |= waiting.n_asking > 0;
			answer_asking(VT_ATTACH_WORD, waiting.word);
		} else if (waiting.n_asking && now - waiting.asked_ns > (int64_t)(s->join_wait_s * 1e9)) {
			snprintf(why, sizeof(why), "no server has contacted it within %g s (VT_JOIN_WAIT)",
				s->join_wait_s);
			answer_asking(VT_ATTACH_REFUSED, why);
		}
	}
	close(waiting.listening);
	vt_edge_close(s->edge);
	return 0;
}
