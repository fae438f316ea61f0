/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that have a contact word meet; see collector-plugin/net/meet.h. */
#include "config.h"
#include "collector-plugin/net/meet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector-plugin/host/time.h"
#include "collector-plugin/net/edge.h"
#include "collector-plugin/net/link_tcp.h"
#include "collector-plugin/net/tcp.h"

#define SECOND_NS 1000000000ll

enum { SILENT_S = 15 };

struct vt_edge *vt_meet_server(
	const char *word, const char *boot, struct vt_contact *server, int *host, struct tkm_err *err)
{
	struct vt_edge *edge;
	char own[256] = "";
	int fd = vt_contact_read(word, server, err) < 0 ? -1 : vt_tcp_connect(server, server->port, 3, host, err);

	if (fd < 0) {
		return NULL;
	}
	/* it answers: the edge would wait for it in the background, without a word */
	close(fd);
	edge = vt_edge_connect(server, *host, err);
	if (edge) {
		gethostname(own, sizeof(own) - 1);
		vt_edge_send(edge, NULL,
			&(struct vt_net_message){ .kind = VT_NET_HELLO,
				.number = { VT_NET_VERSION, (uint64_t)getpid() },
				.text = { vt_net_text_of(own, strlen(own)), vt_net_text_of(boot, strlen(boot)) } });
	}
	return edge;
}

static int ask_to_meet(
	struct vt_edge *edge, const struct vt_meeting_wish *w, const struct vt_contact *own, struct tkm_err *err)
{
	char word[VT_CONTACT_WORD], *end;

	/* hosts and port; the key is nobody's */
	if (vt_contact_write(own, word, sizeof(word)) < 0) {
		return tkm_fail(err, TKM_ERR_DATA, "this node has too many addresses");
	}
	end = strrchr(word, ':');
	*end = '\0';
	return vt_edge_send(edge, NULL,
		&(struct vt_net_message){ .kind = VT_NET_MEET,
			.number = { (uint64_t)(w->rank + 1), (uint64_t)w->size, own->port },
			.text = { vt_net_text_of(word, strlen(word)) } });
}

/* Reads the places of all ranks. Returns 0 or -1. */
static int read_places(const struct vt_net_message *m, struct vt_mesh *mesh, int size, struct tkm_err *err)
{
	static const char no_key[] = ":0000000000000000000000000000000000000000000000000000000000000000";
	const char *p = m->text[0].at, *end = p + m->text[0].n;
	char word[VT_CONTACT_WORD];
	int i;

	mesh->nonce[0] = m->number[2];
	mesh->nonce[1] = m->number[3];
	mesh->at = calloc((size_t)size, sizeof(*mesh->at));
	for (i = 0; mesh->at && i < size && p < end; i++) {
		size_t n = strcspn(p, " ");

		n = n < (size_t)(end - p) ? n : (size_t)(end - p);
		if (n + sizeof(no_key) > sizeof(word)) {
			break;
		}
		memcpy(word, p, n);
		memcpy(word + n, no_key, sizeof(no_key));
		if (vt_contact_read(word, &mesh->at[i], err) < 0) {
			return -1;
		}
		p += n + 1;
	}
	return !mesh->at   ? tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the places of %d ranks", size)
		: i < size ? tkm_fail(err, TKM_ERR_FORMAT, "VTserver named the places of %d of %d ranks", i, size)
			   : 0;
}

/* Answers messages until all have come. Returns the own rank or -1. */
static int wait_for_others(struct vt_edge *edge, const struct vt_meeting_wish *w, const struct vt_contact *own,
	struct vt_mesh *mesh, struct tkm_err *err)
{
	int64_t now = vt_now_ns(CLOCK_MONOTONIC), heard = now, told = now;
	struct vt_net_message m;
	struct vt_peer from;
	int rc;

	while (now - heard < SILENT_S * SECOND_NS) {
		vt_edge_wait(edge, NULL, 0, 200);
		now = vt_now_ns(CLOCK_MONOTONIC);
		if (w->look && w->look(err) < 0) {
			return -1;
		}
		if (now - told > SECOND_NS) {
			vt_edge_send(edge, NULL, &(struct vt_net_message){ .kind = VT_NET_ALIVE });
			told = now;
		}
		while ((rc = vt_edge_receive(edge, &from, &m, err)) != 0) {
			heard = now;
			if (rc > 0 && m.kind == VT_NET_REFUSED) {
				return tkm_fail(err, TKM_ERR_UNAVAIL, "%.*s", (int)m.text[0].n, m.text[0].at);
			}
			if (rc < 0 || (m.kind == VT_NET_PLACE && ask_to_meet(edge, w, own, err) < 0)) {
				return -1;
			}
			if (m.kind == VT_NET_MET) {
				return m.number[0] < (uint64_t)w->size && m.number[1] == (uint64_t)w->size
					? read_places(&m, mesh, w->size, err) < 0 ? -1 : (int)m.number[0]
					: tkm_fail(err, TKM_ERR_FORMAT, "VTserver gave no rank of %d", w->size);
			}
		}
	}
	return tkm_fail(err, TKM_ERR_TIMEOUT, "nothing was heard of VTserver for %d s", SILENT_S);
}

struct cal_link *vt_meet(const struct vt_meeting_wish *w, struct tkm_err *err)
{
	struct vt_mesh mesh = { .listener = -1 };
	struct vt_edge *edge = NULL;
	struct vt_contact own, server;
	int rank = -1, port = 0, host = 0;

	memset(&own, 0, sizeof(own));
	mesh.listener = vt_contact_here(&own, w->interface, err) < 0 ? -1 : vt_tcp_listen(0, 0, &port, err);
	edge = mesh.listener < 0 ? NULL : vt_meet_server(w->word, "", &server, &host, err);
	if (edge) {
		own.port = (uint16_t)port;
		rank = wait_for_others(edge, w, &own, &mesh, err);
	}
	if (edge && rank < 0) {
		vt_edge_send(edge, NULL,
			&(struct vt_net_message){
				.kind = VT_NET_LEAVE, .text = { vt_net_text_of(err->text, strlen(err->text)) } });
	}
	vt_edge_close(edge);
	if (rank < 0) {
		if (mesh.listener >= 0) {
			close(mesh.listener);
		}
		free(mesh.at);
		return NULL;
	}
	return vt_link_mesh(&mesh, rank, w->size, err);
}
