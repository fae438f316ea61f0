/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks can never go on: those that wait for all of some ranks one of which is stuck, or for one of some ranks that are all
 * stuck. What a rank has published is exact, because whatever it waits for takes its mark away when it comes; so the answer
 * does not depend on how long a rank has waited. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdio.h>
#include <string.h>

#define HARD_NS INT64_C(300000000)
#define SOFT_NS INT64_C(30000000)
#define ALONE_NS INT64_C(10000000000)

/* ---- the verdict ---- */

struct verdict {
	uint64_t stuck[VT_MC_BITS];
	int n, soft, mine, explained, young;
	int idle;     /* all ranks have waited for longer than the limit, and what some wait for is unknown */
	int released; /* the sends were reported, or are to ranks in MPI_Finalize, which reports them */
	int ended;    /* a rank that has ended and is waited for; -1: none */
};

/* Programs that look in a loop may leave it at any time. With the lock, each time that this process judges: which of them have looked since. */
static struct {
	uint64_t calls;
	int64_t looked_ns, period_ns;
} loops[VT_MC_RANKS];

static void watch_loops(int64_t now)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	int i;

	for (i = 0; i < s->ranks; i++) {
		if (!s->rank[i].looks) {
			/* the time between two loops is none of a loop */
			loops[i].calls = 0;
		} else if (s->rank[i].calls != loops[i].calls) {
			loops[i].period_ns = loops[i].calls ? now - loops[i].looked_ns : 0;
			loops[i].looked_ns = now;
			loops[i].calls = s->rank[i].calls;
		}
	}
}

/* Is what the rank has shown still so? One in a collective operation of MPI shows it once. */
static int is_fresh(int rank, int64_t now)
{
	const struct vt_mc_rank *r = &vt_mc_shared->rank[rank];

	if (r->looks && now - loops[rank].looked_ns > loops[rank].period_ns) {
		return 0;
	}
	return now - r->looked_ns < VT_MC_LOOKED_NS || (r->in_number && r->in_number != VT_MC_EPOCH_CALL);
}

/* A loop that looks for what the rank itself would have to send: it may end by itself, and no other rank waits in it. */
static int is_alone(int rank)
{
	const struct vt_mc_rank *r = &vt_mc_shared->rank[rank];
	int i, others = 0;

	for (i = 0; i < vt_mc_shared->ranks; i++) {
		others += i != rank && (vt_mc_has_bit(r->all, i) || vt_mc_has_bit(r->any, i));
	}
	return r->looks && !others;
}

static void judge_ranks(struct verdict *v, int64_t now)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	int i, k;

	memset(v, 0, sizeof(*v));
	v->ended = -1;
	watch_loops(now);
	v->n = vt_mc_find_stuck(v->stuck);
	for (i = 0; i < s->ranks; i++) {
		const struct vt_mc_rank *r = &s->rank[i];

		if (!vt_mc_has_bit(v->stuck, i) || r->state != VT_MC_BLOCKED) {
			continue;
		}
		v->soft |= r->soft;
		v->released |= r->released;
		v->mine |= i == vt_mc_rank;
		v->young |= !r->named || now - r->since_ns < (is_alone(i) ? ALONE_NS : SOFT_NS) || !is_fresh(i, now);
		for (k = 0; k < s->ranks; k++) {
			if (vt_mc_has_bit(r->all, k) || vt_mc_has_bit(r->any, k)) {
				v->explained |= s->rank[k].state == VT_MC_STOPPED;
				v->released |= r->soft && !strcmp(s->rank[k].function, "MPI_Finalize");
				v->ended = s->rank[k].state == VT_MC_ENDED ? k : v->ended;
			}
		}
	}
	for (i = 0; !v->soft && i < s->ranks; i++) {
		v->young |= vt_mc_has_bit(v->stuck, i) && s->rank[i].state == VT_MC_BLOCKED &&
			now - s->rank[i].since_ns < HARD_NS;
	}
}

/* The rank that is somewhere else than the others that wait; -1: there is none. */
static int find_culprit(const struct verdict *v)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	int i, k, same, best = -1, most = 0, waited;

	for (i = 0; i < s->ranks; i++) {
		same = waited = 0;
		if (!vt_mc_has_bit(v->stuck, i)) {
			continue;
		}
		for (k = 0; k < s->ranks; k++) {
			if (k != i && vt_mc_has_bit(v->stuck, k) && s->rank[k].state == VT_MC_BLOCKED) {
				same += !strcmp(s->rank[i].text, s->rank[k].text);
				waited += vt_mc_has_bit(s->rank[k].all, i);
			}
		}
		if (!same && waited > most) {
			most = waited;
			best = i;
		} else if (!same && waited == most) {
			best = -1;
		}
	}
	return best;
}

/* A rank that does not take what was sent to it any more: it has ended, or waits in no receive or send. */
static int takes_nothing(const struct verdict *v, int rank)
{
	static const char *const may_take[] = { "ecv", "end", "Wait", "Test", "robe", "Start", NULL };
	const struct vt_mc_rank *r = &vt_mc_shared->rank[rank];
	int i;

	for (i = 0; may_take[i] && !strstr(r->function, may_take[i]); i++) {
	}
	return r->state == VT_MC_ENDED || (vt_mc_has_bit(v->stuck, rank) && r->state == VT_MC_BLOCKED && !may_take[i]);
}

/* A message that no receive takes, while a rank waits in a receive for one of its sender: it has another tag or communicator, or, if
 * there is none of these, went to another rank. waits: that rank. NULL: there is none. */
static const struct vt_mc_message *find_stray(const struct verdict *v, int *waits)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	const struct vt_mc_message *m, *found = NULL;
	const struct vt_mc_rank *r;
	int i, k, at;

	for (i = 0; i < s->ranks && !v->soft; i++) {
		for (at = s->inbox[i] - 1; at >= 0; at = s->message[at].next - 1) {
			m = &s->message[at];
			for (k = 0; k < s->ranks && !m->accepted; k++) {
				r = &s->rank[k];
				if (!vt_mc_has_bit(v->stuck, k) || r->state != VT_MC_BLOCKED || !r->receive_comm ||
					!vt_mc_has_bit(r->all, m->from)) {
					continue;
				}
				if (k == i) {
					*waits = k;
					return m;
				}
				if (!found && r->receive_comm == m->comm && takes_nothing(v, i) &&
					(r->receive_tag == MPI_ANY_TAG || r->receive_tag == m->tag)) {
					*waits = k;
					found = m;
				}
			}
		}
	}
	return found;
}

static void print_culprit(const struct verdict *v, char *text, size_t size)
{
	const struct vt_mc_message *m;
	char place[300];
	int waits, culprit;

	m = find_stray(v, &waits);
	if (!m) {
		culprit = find_culprit(v);
		if (culprit >= 0) {
			snprintf(text, size, "   look at rank %d first: it is not where the others wait\n", culprit);
		}
		return;
	}
	vt_mc_print_offset(m->place, place, sizeof(place));
	if (m->to != waits) {
		snprintf(text, size,
			"   look at rank %d first: it has sent rank %d what rank %d waits for: %s, tag %d   %s\n",
			m->from, m->to, waits, m->name, m->tag, place);
	} else {
		snprintf(text, size,
			"   look at ranks %d and %d first: rank %d does not wait for what the other has sent: %s, tag %d%s   %s\n",
			m->from, waits, waits, m->name, m->tag,
			m->comm == vt_mc_shared->rank[waits].receive_comm ? "" : ", on another communicator", place);
	}
}

static void print_stuck(const struct verdict *v, char *text, size_t size)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	char targets[300], place[300];
	size_t n = 0, m;
	int i, k;

	text[0] = '\0';
	for (i = 0; i < s->ranks && n < size - 10; i++) {
		if (v->idle && s->rank[i].idle_ns) {
			n += (size_t)snprintf(text + n, size - n, "   rank %d waits in: %s%s%s\n", i, s->rank[i].text,
				s->rank[i].offset ? "   " : "",
				vt_mc_print_offset(s->rank[i].offset, place, sizeof(place)));
			continue;
		}
		if (!vt_mc_has_bit(v->stuck, i) || s->rank[i].state != VT_MC_BLOCKED) {
			continue;
		}
		m = 0;
		targets[0] = '\0';
		for (k = 0; k < s->ranks && m < sizeof(targets) - 12; k++) {
			if (vt_mc_has_bit(s->rank[i].all, k)) {
				m += (size_t)snprintf(targets + m, sizeof(targets) - m, " %d", k);
			}
		}
		for (k = 0; k < s->ranks && m < sizeof(targets) - 12; k++) {
			if (vt_mc_has_bit(s->rank[i].any, k)) {
				m += (size_t)snprintf(targets + m, sizeof(targets) - m, " any:%d", k);
			}
		}
		n += (size_t)snprintf(text + n, size - n, "   rank %d waits for%s: %s%s%s\n", i, targets,
			s->rank[i].text, s->rank[i].offset ? "   " : "",
			vt_mc_print_offset(s->rank[i].offset, place, sizeof(place)));
	}
	if (n < size - 100) {
		print_culprit(v, text + n, size - n);
	}
}

/* With the lock. Has no rank of the job gone on for DEADLOCK-TIMEOUT, this one among them? */
static void judge_idle(struct verdict *v, int64_t now)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	int64_t limit = vt_mc_idle_limit_ns(0);
	const struct vt_mc_rank *r;
	int i, is;

	v->idle = limit > 0 && s->rank[vt_mc_rank].idle_ns && !s->verdict;
	for (i = 0; i < s->ranks && v->idle; i++) {
		r = &s->rank[i];
		is = r->idle_ns ? now - r->idle_ns > limit
				: r->state == VT_MC_BLOCKED && !r->soft && now - r->since_ns > limit;
		v->idle = (is && is_fresh(i, now)) || r->state == VT_MC_ENDED;
		if (r->state == VT_MC_BLOCKED) {
			vt_mc_set_bit(v->stuck, i);
		}
	}
}

static void report_idle(const char *text)
{
	vt_mc_report_lines(VT_MC_HARD, text,
		"no rank has left its call for %.3g s (DEADLOCK-TIMEOUT), and which ranks some of them wait for is not known",
		1e-9 * (double)vt_mc_idle_limit_ns(0));
}

int vt_mc_judge(int soft)
{
	char text[6000];
	struct verdict v;
	int64_t now = vt_mc_now_ns();
	int i, released, mine = 0;

	vt_mc_shared_lock();
	judge_ranks(&v, now);
	if (v.mine && v.n > 0 && !v.explained && !v.young && !vt_mc_shared->verdict) {
		mine = !v.released;
		print_stuck(&v, text, sizeof(text));
		for (i = 0; i < vt_mc_shared->ranks; i++) {
			vt_mc_shared->rank[i].released |= vt_mc_has_bit(v.stuck, i) && vt_mc_shared->rank[i].soft;
		}
		vt_mc_shared->verdict = !v.soft && vt_mc_on(VT_MC_HARD);
	} else {
		judge_idle(&v, now);
	}
	if (v.idle) {
		print_stuck(&v, text, sizeof(text));
		vt_mc_shared->verdict = vt_mc_on(VT_MC_HARD);
	}
	released = vt_mc_shared->rank[vt_mc_rank].released;
	vt_mc_shared_unlock();
	if (v.idle) {
		report_idle(text);
	} else if (mine && v.soft) {
		vt_mc_report_lines(VT_MC_POTENTIAL, text,
			"%d ranks wait for each other unless MPI buffers their sends, which it does not promise", v.n);
	} else if (mine && v.ended >= 0) {
		vt_mc_report_lines(VT_MC_HARD, text, "%d rank%s for rank %d, which has ended", v.n,
			v.n == 1 ? " waits" : "s wait", v.ended);
	} else if (mine) {
		vt_mc_report_lines(
			VT_MC_HARD, text, "%d rank%s for what can no longer come", v.n, v.n == 1 ? " waits" : "s wait");
	}
	return soft && released;
}
