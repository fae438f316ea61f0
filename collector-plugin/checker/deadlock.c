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

/* How many others are in the same call of the program. */
static int count_beside(const struct verdict *v, int rank)
{
	const struct vt_mc_rank *r = vt_mc_shared->rank;
	int k, n = 0;

	for (k = 0; k < vt_mc_shared->ranks; k++) {
		n += k != rank && vt_mc_has_bit(v->stuck, k) && r[k].state == VT_MC_BLOCKED &&
			r[k].offset == r[rank].offset && !strcmp(r[k].function, r[rank].function);
	}
	return n;
}

/* The rank that is somewhere else than the others that wait; -1: there is none. */
static int find_culprit(const struct verdict *v)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	int i, k, best = -1, most = 0, waited;

	for (i = 0; i < s->ranks; i++) {
		if (!vt_mc_has_bit(v->stuck, i) || count_beside(v, i)) {
			continue;
		}
		waited = 0;
		for (k = 0; k < s->ranks; k++) {
			waited += k != i && vt_mc_has_bit(v->stuck, k) && s->rank[k].state == VT_MC_BLOCKED &&
				vt_mc_has_bit(s->rank[k].all, i);
		}
		best = waited > most ? i : waited == most ? -1 : best;
		most = waited > most ? waited : most;
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

/* The only rank that this one waits for; -1: there are several. */
static int find_only(const struct vt_mc_rank *r)
{
	int i, only = -1, n = 0;

	for (i = 0; i < vt_mc_shared->ranks; i++) {
		if (vt_mc_has_bit(r->all, i) || vt_mc_has_bit(r->any, i)) {
			only = i;
			n++;
		}
	}
	return n == 1 ? only : -1;
}

/* A message that no receive takes, while a rank waits in a receive for one of its sender. It has another tag or communicator, which says
 * most, or went to another rank, or is one of those that a receive from any rank may have been for, which says least. */
enum stray { NO_STRAY, PERHAPS, ELSEWHERE, NEARLY };

static enum stray judge_stray(const struct verdict *v, const struct vt_mc_message *m, int waits)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	const struct vt_mc_rank *r = &s->rank[waits];
	int all = vt_mc_has_bit(r->all, m->from),
	    fits = r->receive_comm == m->comm && (r->receive_tag == MPI_ANY_TAG || r->receive_tag == m->tag);

	if (m->accepted || !vt_mc_has_bit(v->stuck, waits) || r->state != VT_MC_BLOCKED || !r->receive_comm ||
		(!all && !vt_mc_has_bit(r->any, m->from))) {
		return NO_STRAY;
	}
	if (waits == m->to) {
		return all                                                                                   ? NEARLY
			: !fits && vt_mc_has_bit(v->stuck, m->from) && find_only(&s->rank[m->from]) == waits ? PERHAPS
													     : NO_STRAY;
	}
	return !fits                                     ? NO_STRAY
		: all && takes_nothing(v, m->to)         ? ELSEWHERE
		: !all && vt_mc_has_bit(v->stuck, m->to) ? PERHAPS
							 : NO_STRAY;
}

/* waits: the rank that waits. */
static enum stray find_stray(const struct verdict *v, const struct vt_mc_message **message, int *waits)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	enum stray best = NO_STRAY, is;
	int i, k, at;

	for (i = 0; i < s->ranks && !v->soft; i++) {
		for (at = s->inbox[i] - 1; at >= 0; at = s->message[at].next - 1) {
			for (k = 0; k < s->ranks; k++) {
				is = judge_stray(v, &s->message[at], k);
				if (is > best) {
					best = is;
					*message = &s->message[at];
					*waits = k;
				}
			}
		}
	}
	return best;
}

/* A rank waits only for another one, which waits for it, or, if there is no such pair, for others in a call that does nothing for one rank:
 * one of the two has made a call too few or too many. */
struct pair {
	int waits, other; /* other -1: there is none; waits -1: several ranks wait for it */
};

/* Does the rank wait for that one only, which does not help it? each: the other one waits for it, too. */
static int is_pair(const struct verdict *v, int waits, int other, int each)
{
	const struct vt_mc_rank *to = &vt_mc_shared->rank[other];

	if (other < 0 || other == waits || !vt_mc_has_bit(v->stuck, other) ||
		/* with others in a collective operation, for a late one */
		(takes_nothing(v, waits) && count_beside(v, waits))) {
		return 0;
	}
	return each ? to->state == VT_MC_BLOCKED && (vt_mc_has_bit(to->all, waits) || vt_mc_has_bit(to->any, waits))
		    : takes_nothing(v, other);
}

static struct pair find_pair(const struct verdict *v, int each)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	struct pair found = { -1, -1 };
	int i, only, n, most = 0, tie = 0;
	int16_t count[VT_MC_RANKS] = { 0 };

	for (i = 0; i < s->ranks; i++) {
		only = vt_mc_has_bit(v->stuck, i) && s->rank[i].state == VT_MC_BLOCKED ? find_only(&s->rank[i]) : -1;
		if (!is_pair(v, i, only, each)) {
			continue;
		}
		n = ++count[only];
		/* two that wait for each other are one pair */
		tie = n > most ? 0 : tie || (n == most && !(n == 1 && found.waits == only && found.other == i));
		if (n > most) {
			most = n;
			found.other = only;
			found.waits = n == 1 ? i : -1;
		}
	}
	found.other = tie ? -1 : found.other;
	return found;
}

static void print_pair(const struct pair *p, char *text, size_t size)
{
	const struct vt_mc_rank *other = &vt_mc_shared->rank[p->other];
	const char *in = other->state == VT_MC_BLOCKED ? other->function : "no call any more";

	if (p->waits < 0) {
		snprintf(text, size, "   look at rank %d first: several ranks wait for it alone, and it is in %s\n",
			p->other, in);
	} else {
		snprintf(text, size,
			"   look at ranks %d and %d first: rank %d waits for rank %d alone, which is in %s\n", p->waits,
			p->other, p->waits, p->other, in);
	}
}

/* A rank that waits for itself; -1: there is none. */
static int find_self(const struct verdict *v)
{
	int i;

	for (i = 0; i < vt_mc_shared->ranks; i++) {
		if (vt_mc_has_bit(v->stuck, i) && vt_mc_shared->rank[i].state == VT_MC_BLOCKED &&
			find_only(&vt_mc_shared->rank[i]) == i) {
			return i;
		}
	}
	return -1;
}

static void print_message(const struct vt_mc_message *m, int waits, char *text, size_t size)
{
	char place[300];

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

static void print_culprit(const struct verdict *v, char *text, size_t size)
{
	const struct vt_mc_message *m = NULL;
	enum stray stray;
	struct pair pair;
	int waits = -1, culprit;

	stray = find_stray(v, &m, &waits);
	culprit = stray < ELSEWHERE ? find_self(v) : -1;
	if (culprit >= 0) {
		snprintf(text, size, "   look at rank %d first: it waits for itself\n", culprit);
		return;
	}
	if (m) {
		print_message(m, waits, text, size);
		return;
	}
	pair = find_pair(v, 1);
	pair = pair.other < 0 ? find_pair(v, 0) : pair;
	culprit = find_culprit(v);
	if (pair.other >= 0) {
		print_pair(&pair, text, size);
	} else if (culprit >= 0) {
		snprintf(text, size, "   look at rank %d first: it is not where the others wait\n", culprit);
	}
}

/* If it is not in the text of the call. */
static const char *print_place(int rank, char *place, size_t size)
{
	const struct vt_mc_rank *r = &vt_mc_shared->rank[rank];

	place[0] = '\0';
	return r->named == VT_MC_IN_SHORT ? vt_mc_print_offset(r->offset, place, size) : place;
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
				s->rank[i].named == VT_MC_IN_SHORT ? "   " : "", print_place(i, place, sizeof(place)));
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
			s->rank[i].text, s->rank[i].named == VT_MC_IN_SHORT ? "   " : "",
			print_place(i, place, sizeof(place)));
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
