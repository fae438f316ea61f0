/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that meet (timertest --join): each gets a rank, and when all have come, the places of the others. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/grow.h"
#include "base/text/text.h"

static int find_rank(const struct vt_server *s, int rank)
{
	int i;

	for (i = 0; i < s->guests && s->guest[i].rank != rank; i++) {
	}
	return i < s->guests ? i : -1;
}

/* Who has asked for a rank has it; the others get what is left, in the order in which they came. */
static void number_guests(struct vt_server *s)
{
	int i, next = 0;

	for (i = 0; i < s->guests; i++) {
		while (find_rank(s, next) >= 0) {
			next++;
		}
		s->guest[i].rank = s->guest[i].rank < 0 ? next : s->guest[i].rank;
	}
}

static void send_places(struct vt_server *s)
{
	struct vt_net_message m = { .kind = VT_NET_MET };
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int i;

	for (i = 0; f && i < s->guests; i++) {
		const struct vt_server_guest *g = &s->guest[find_rank(s, i)];

		fprintf(f, "%s%s", i ? " " : "", g->place);
	}
	if (!f || tkm_text_end(f, &text) < 0 || getrandom(&m.number[2], 16, 0) != 16) {
		vt_server_end_meeting(s, "VTserver has no memory");
		free(text);
		return;
	}
	m.text[0] = vt_net_text_of(text, n);
	for (i = 0; i < s->guests; i++) {
		m.number[0] = (uint64_t)s->guest[i].rank;
		m.number[1] = (uint64_t)s->guests;
		vt_edge_send(s->edge, &s->node[s->guest[i].node].peer, &m);
		s->node[s->guest[i].node].state = VT_SERVER_ENDED;
	}
	s->met = 1;
	free(text);
}

/* Returns NULL, or why this process cannot take part. */
static const char *refuse_guest(const struct vt_server *s, const struct vt_net_message *m, char *why, size_t size)
{
	int rank = (int)m->number[0] - 1;

	if (m->number[1] < 1 || m->number[1] > 1 << 20 || m->number[0] > m->number[1]) {
		snprintf(why, size, "rank %d of %llu is none", rank, (unsigned long long)m->number[1]);
	} else if (s->met || s->processes) {
		snprintf(why, size, "this word is in use already: each test needs one of its own (vtrun --contact)");
	} else if (s->guests && m->number[1] != (uint64_t)s->meets) {
		snprintf(why, size, "this process expects %llu processes, and the others %d",
			(unsigned long long)m->number[1], s->meets);
	} else if (rank >= 0 && find_rank(s, rank) >= 0) {
		snprintf(why, size, "another process has rank %d", rank);
	} else {
		return NULL;
	}
	return why;
}

void vt_server_take_guest(struct vt_server *s, int node, const struct vt_net_message *m)
{
	char text[200];
	const char *why = refuse_guest(s, m, text, sizeof(text));
	struct vt_server_guest *g = why ? NULL : TKM_APPEND(s->guest, s->guests);
	char *place = g ? strndup(m->text[0].at, m->text[0].n) : NULL;

	if (!place) {
		s->guests -= g != NULL;
		vt_server_refuse(s, &s->node[node].peer, 0, why ? why : "no memory for one more process");
		s->node[node].state = VT_SERVER_GONE;
		return;
	}
	*g = (struct vt_server_guest){ .node = node, .rank = (int)m->number[0] - 1, .place = place };
	s->meets = (int)m->number[1];
	s->came_ns = s->heard_ns;
	if (s->guests == s->meets) {
		number_guests(s);
		send_places(s);
	}
}

void vt_server_end_meeting(struct vt_server *s, const char *why)
{
	int i;

	for (i = 0; i < s->guests; i++) {
		vt_server_refuse(s, &s->node[s->guest[i].node].peer, 0, why);
		s->node[s->guest[i].node].state = VT_SERVER_GONE;
	}
	s->met = 1;
}

/* A process that is gone again, or does not come, ends the meeting for all. */
void vt_server_look_at_meeting(struct vt_server *s, int64_t now)
{
	char why[600];
	int i;

	if (!s->guests || s->met) {
		return;
	}
	for (i = 0; i < s->guests; i++) {
		const struct vt_server_node *n = &s->node[s->guest[i].node];

		if (n->state == VT_SERVER_GONE) {
			snprintf(why, sizeof(why), "the process on %s is gone: %.200s", n->host, n->why);
			vt_server_end_meeting(s, why);
			return;
		}
	}
	if (now - s->came_ns > (int64_t)(s->join_wait_s * 1e9)) {
		snprintf(why, sizeof(why),
			"%d of %d processes came, and no other one within %g s after the last (vtrun --contact --join-wait)",
			s->guests, s->meets, s->join_wait_s);
		vt_server_end_meeting(s, why);
	}
}

void vt_server_free_meeting(struct vt_server *s)
{
	int i;

	for (i = 0; i < s->guests; i++) {
		free(s->guest[i].place);
	}
	free(s->guest);
}
