/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that were sent and that no receive has taken yet, for each receiver in the order in which they were sent. The
 * order of MPI decides which receive gets which; nothing is added to the program's messages. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdio.h>
#include <string.h>

static int is_channel(const struct vt_mc_message *m, uint64_t comm, int from, int tag)
{
	return m->comm == comm && (from == MPI_ANY_SOURCE || m->from == from) && (tag == MPI_ANY_TAG || m->tag == tag);
}

/* Before the send. Returns its number; 0: it is not tracked. */
uint64_t vt_mc_message_sent(struct vt_mc_pending *p)
{
	struct vt_mc_shared *s = vt_mc_shared;
	struct vt_mc_message *m;
	int to, at;

	p->message = -1;
	p->number = 0;
	if (!s || !p->comm || !p->comm->whole || p->peer < 0 || p->peer >= p->comm->remote) {
		return 0;
	}
	to = p->comm->world[p->peer];
	vt_mc_shared_lock();
	at = s->free_message - 1;
	if (at < 0) {
		s->untracked++;
		vt_mc_shared_unlock();
		return 0;
	}
	m = &s->message[at];
	s->free_message = m->next;
	m->next = m->accepted = m->elsewhere = 0;
	m->comm = p->comm->id;
	m->number = ++s->messages;
	m->from = vt_mc_rank;
	m->to = to;
	m->tag = p->tag;
	m->signature = p->type && p->type->signature.n
		? vt_mc_repeat(p->type->signature, (uint64_t)(p->count > 0 ? p->count : 0))
		: (struct vt_mc_signature){ 0 };
	m->bytes = p->type ? (uint64_t)(p->count * p->type->bytes) : 0;
	m->summed = p->summed && !vt_mc_several_threads;
	m->checksum = p->checksum;
	snprintf(m->name, sizeof(m->name), "%s", p->started.f ? p->started.f->text : "");
	m->place = p->started_offset;
	if (s->inbox_end[to]) {
		s->message[s->inbox_end[to] - 1].next = at + 1;
	} else {
		s->inbox[to] = at + 1;
	}
	s->inbox_end[to] = at + 1;
	p->message = at;
	p->number = m->number;
	vt_mc_wake(to);
	vt_mc_shared_unlock();
	return p->number;
}

/* Is the message with this number still without a receive? */
int vt_mc_message_waits(int at, uint64_t number)
{
	return at >= 0 && __atomic_load_n(&vt_mc_shared->message[at].number, __ATOMIC_RELAXED) == number;
}

int vt_mc_message_find(const struct vt_mc_object *comm, int source, int tag)
{
	struct vt_mc_shared *s = vt_mc_shared;
	int at, from = source == MPI_ANY_SOURCE ? source : comm->world[source];

	for (at = s->inbox[vt_mc_rank] - 1; at >= 0; at = s->message[at].next - 1) {
		if (is_channel(&s->message[at], comm->id, from, tag)) {
			return at;
		}
	}
	return -1;
}

/* Which of the messages of this communicator came into which receive is not known: their types and bytes are not compared. With the
 * lock of the segment. */
static void doubt_messages(const struct vt_mc_object *comm)
{
	struct vt_mc_shared *s = vt_mc_shared;
	int at;

	for (at = s->inbox[vt_mc_rank] - 1; at >= 0; at = s->message[at].next - 1) {
		if (s->message[at].comm == comm->id) {
			s->message[at].summed = 0;
			s->message[at].signature.power = 0;
		}
	}
}

/* Takes it out of the inbox. With the lock of the segment. */
static int claim_message(int at, struct vt_mc_message *out)
{
	struct vt_mc_shared *s = vt_mc_shared;
	int i, before = 0;

	for (i = s->inbox[vt_mc_rank]; i && i - 1 != at; i = s->message[i - 1].next) {
		before = i;
	}
	if (!i) {
		return -1;
	}
	*out = s->message[at];
	if (before) {
		s->message[before - 1].next = s->message[at].next;
	} else {
		s->inbox[vt_mc_rank] = s->message[at].next;
	}
	if (s->inbox_end[vt_mc_rank] == at + 1) {
		s->inbox_end[vt_mc_rank] = before;
	}
	s->message[at].number = 0;
	s->message[at].next = s->free_message;
	s->free_message = at + 1;
	vt_mc_wake(out->from);
	return 0;
}

/* The send did not happen, or was cancelled. */
void vt_mc_message_back(struct vt_mc_pending *p)
{
	struct vt_mc_shared *s = vt_mc_shared;
	int i, to, before = 0;

	if (!s || p->message < 0) {
		return;
	}
	vt_mc_shared_lock();
	if (vt_mc_message_waits(p->message, p->number)) {
		to = s->message[p->message].to;
		for (i = s->inbox[to]; i && i - 1 != p->message; i = s->message[i - 1].next) {
			before = i;
		}
		if (i) {
			*(before ? &s->message[before - 1].next : &s->inbox[to]) = s->message[p->message].next;
			s->inbox_end[to] = s->inbox_end[to] == i ? before : s->inbox_end[to];
			s->message[p->message].number = 0;
			s->message[p->message].next = s->free_message;
			s->free_message = i;
		}
	}
	vt_mc_shared_unlock();
	p->message = -1;
}

/* ---- which receive gets which message ---- */

static int may_take(const struct vt_mc_pending *q, const struct vt_mc_pending *p)
{
	return q->comm == p->comm && (q->peer == MPI_ANY_SOURCE || q->peer == p->peer) &&
		(q->tag == MPI_ANY_TAG || q->tag == p->tag);
}

static int is_open_receive(const struct vt_mc_pending *p)
{
	return p->transfer == VT_MC_RECEIVES && !p->claimed && !p->partitioned && p->comm && p->comm->whole &&
		p->peer != MPI_PROC_NULL;
}

/* Is there an earlier receive, with a wildcard, that may get the message instead? */
static int is_ambiguous(const struct vt_mc_pending *p)
{
	const struct vt_mc_pending *q;

	for (q = vt_mc_active_next(NULL); q && q != p; q = vt_mc_active_next(q)) {
		if (is_open_receive(q) && (q->peer == MPI_ANY_SOURCE || q->tag == MPI_ANY_TAG) && may_take(q, p)) {
			return 1;
		}
	}
	return 0;
}

/* Some message will end this receive: its sender need not wait for another one. */
static void accept_message(const struct vt_mc_pending *p)
{
	struct vt_mc_shared *s = vt_mc_shared;
	int at, from = p->peer == MPI_ANY_SOURCE ? p->peer : p->comm->world[p->peer];

	vt_mc_shared_lock();
	for (at = s->inbox[vt_mc_rank] - 1; at >= 0; at = s->message[at].next - 1) {
		struct vt_mc_message *m = &s->message[at];

		if (!m->accepted && m->comm == p->comm->id && (from == MPI_ANY_SOURCE || from == m->from) &&
			(p->tag == MPI_ANY_TAG || p->tag == m->tag)) {
			m->accepted = 1;
			vt_mc_wake(m->from);
			break;
		}
	}
	vt_mc_shared_unlock();
}

static void accept_messages(void)
{
	struct vt_mc_shared *s = vt_mc_shared;
	const struct vt_mc_pending *p;
	int at, held = vt_mc_holds_lock;

	vt_mc_shared_lock();
	for (at = s->inbox[vt_mc_rank] - 1; at >= 0; at = s->message[at].next - 1) {
		s->message[at].accepted = s->message[at].elsewhere;
	}
	for (p = vt_mc_active_next(NULL); p; p = vt_mc_active_next(p)) {
		if (is_open_receive(p)) {
			vt_mc_holds_lock = 1;
			accept_message(p);
			vt_mc_holds_lock = held;
		}
	}
	vt_mc_shared_unlock();
}

void vt_mc_pending_claim(void)
{
	struct vt_mc_pending *p;
	int at;

	if (!vt_mc_shared || vt_mc_pending_many()) {
		return;
	}
	for (p = vt_mc_active_next(NULL); p; p = vt_mc_active_next(p)) {
		if (is_open_receive(p) && p->peer != MPI_ANY_SOURCE && p->tag != MPI_ANY_TAG && !is_ambiguous(p)) {
			vt_mc_shared_lock();
			at = vt_mc_message_find(p->comm, p->peer, p->tag);
			p->claimed = at >= 0 && claim_message(at, &p->got) == 0;
			vt_mc_shared_unlock();
		}
	}
	accept_messages();
}

/* The receive is complete, so it has taken the first message of its channel. Without a status, or with other receives of which it is
 * not known whether they took one, it may be another. Returns 1 if it is known. */
static int take_message(struct vt_mc_pending *p, const MPI_Status *status)
{
	const char *why = NULL;
	int at, sure = status && !vt_mc_pending_many();
	int source = status ? status->MPI_SOURCE : p->peer, tag = status ? status->MPI_TAG : p->tag;
	const struct vt_mc_pending *q;

	if (p->claimed || !is_open_receive(p)) {
		return p->claimed;
	}
	vt_mc_pending_claim();
	if (p->claimed || (status && (source < 0 || source >= p->comm->remote))) {
		return p->claimed;
	}
	for (q = vt_mc_active_next(NULL); q && sure; q = vt_mc_active_next(q)) {
		sure = q == p || !is_open_receive(q) || q->comm != p->comm;
	}
	vt_mc_shared_lock();
	at = vt_mc_message_find(p->comm, source, tag);
	p->claimed = at >= 0 && claim_message(at, &p->got) == 0;
	if (!sure) {
		doubt_messages(p->comm);
	} else if (at < 0 && !vt_mc_shared->unordered) {
		/* PMPI_Send() of a library, for example, has sent it: such a receive may wait for what does not come here */
		why = vt_mc_shared->untracked
			? "had no room among those that are followed, or was sent by MPI_Isendrecv"
			: "was sent by a call that is not seen here, such as PMPI_Send of a library";
		vt_mc_shared->unordered = 1;
		vt_mc_shared->untracked++;
	}
	vt_mc_shared_unlock();
	if (why) {
		vt_mc_say(
			"a message from rank %d, with tag %d, %s: more may come, so receives that wait for ever are only ended by "
			"DEADLOCK-TIMEOUT",
			p->comm->world[source], tag, why);
	}
	return p->claimed && sure;
}

/* Returns 1 if they differ, and that was reported. */
static int compare_signatures(struct vt_mc_call *k, struct vt_mc_pending *p, const MPI_Status *status, int rc)
{
	const struct vt_mc_signature sent = p->got.signature;
	struct vt_mc_signature here;
	struct vt_mc_involved other = { "started by", &p->started };
	char place[300];
	int bytes;

	if (!sent.power || !p->type || !p->type->signature.n ||
		(sent.n > p->type->signature.n * (uint64_t)p->count && !p->type->alike) ||
		!vt_mc_prefix(p->type, sent.n, &here) || here.hash == sent.hash ||
		/* another one, which came in between and was sent by calls that do not come here */
		(rc == MPI_SUCCESS && status && PMPI_Get_count(status, MPI_BYTE, &bytes) == MPI_SUCCESS &&
			bytes != MPI_UNDEFINED && (uint64_t)bytes != p->got.bytes)) {
		return 0;
	}
	return vt_mc_report(VT_MC_MSG_TYPE, k, p->blocking ? NULL : &other,
		"the datatypes of the receive and of its message differ: rank %d sent %llu element%s with tag %d by %s   %s",
		p->got.from, (unsigned long long)sent.n, sent.n == 1 ? "" : "s", p->got.tag, p->got.name,
		vt_mc_print_offset(p->got.place, place, sizeof(place)));
}

/* Has a call with this result taken its message? One that was too long is gone, too. */
static int took_its_message(int rc)
{
	int class = MPI_SUCCESS;

	return rc == MPI_SUCCESS || (PMPI_Error_class(rc, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE);
}

/* The receive is complete. Returns 1 if its message is known and of a type that fits. */
int vt_mc_message_received(struct vt_mc_call *k, struct vt_mc_pending *p, const MPI_Status *status, int rc)
{
	return take_message(p, status) && took_its_message(rc) && !compare_signatures(k, p, status, rc) &&
		rc == MPI_SUCCESS;
}

/* A matched probe has taken a message, which nothing but its own receive can get any more. */
void vt_mc_message_probed(struct vt_mc_call *k)
{
	const struct vt_mc_object *c = vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM));
	const struct vt_mc_pending *q;
	struct vt_mc_message m;
	int at, sure = 1;

	if (k->rc != MPI_SUCCESS || !vt_mc_shared || !c || !c->whole || k->status.MPI_SOURCE < 0 ||
		k->status.MPI_SOURCE >= c->remote ||
		(VT_MC_HAS(k, VT_MC_FLAG) && !*(const int *)VT_MC_WORD(k, VT_MC_FLAG))) {
		return;
	}
	for (q = vt_mc_active_next(NULL); q && sure; q = vt_mc_active_next(q)) {
		sure = !is_open_receive(q) || q->comm != c;
	}
	vt_mc_shared_lock();
	at = vt_mc_message_find(c, k->status.MPI_SOURCE, k->status.MPI_TAG);
	if (at >= 0) {
		claim_message(at, &m);
	}
	if (!sure) {
		doubt_messages(c);
	}
	vt_mc_shared_unlock();
}

/* ---- messages that were received by calls that do not come here ---- */

/* A message that is not there may still be on its way. */
#define ON_ITS_WAY_NS INT64_C(50000000)

static int mpi_has(const struct vt_mc_object *comm, const struct vt_mc_message *m, int64_t until_ns)
{
	int source = 0, flag = 0;

	while (source < comm->remote && comm->world[source] != m->from) {
		source++;
	}
	do {
		if (source == comm->remote ||
			PMPI_Iprobe(source, m->tag, (MPI_Comm)comm->handle, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
			return 1;
		}
	} while (!flag && vt_mc_now_ns() < until_ns);
	return flag;
}

/* The one of the communicator to this rank that was sent after that one; -1: there is none. `at`: where that one was, which may be the
 * place of another one since, and `number`, 0: none. With the lock of the segment. */
static int next_sent(const struct vt_mc_object *comm, int at, uint64_t number)
{
	const struct vt_mc_shared *s = vt_mc_shared;

	at = number && vt_mc_message_waits(at, number) ? s->message[at].next - 1 : s->inbox[vt_mc_rank] - 1;
	while (at >= 0 && (s->message[at].comm != comm->id || s->message[at].number <= number)) {
		at = s->message[at].next - 1;
	}
	return at;
}

/* Of those to this rank: which ones are waiting for a receive, and which ones has PMPI_Recv() of a library, for example, received? */
void vt_mc_messages_look(const struct vt_mc_object *comm, int wait)
{
	struct vt_mc_shared *s = vt_mc_shared;
	struct vt_mc_message m = { .number = 0 };
	int64_t until_ns = 0;
	int at = -1, there;

	while (comm && comm->whole) {
		vt_mc_shared_lock();
		at = next_sent(comm, at, m.number);
		if (at >= 0) {
			m = s->message[at];
		}
		vt_mc_shared_unlock();
		if (at < 0) {
			return;
		}
		until_ns = until_ns || !wait ? until_ns : vt_mc_now_ns() + ON_ITS_WAY_NS;
		there = mpi_has(comm, &m, until_ns) != 0;
		vt_mc_shared_lock();
		if (vt_mc_message_waits(at, m.number) && there == m.elsewhere) {
			/* only then: a rank that is woken again and again is never taken for one that waits. One that is there now was on
			 * its way, and no receive has it. */
			s->message[at].elsewhere = s->message[at].accepted = !there;
			vt_mc_wake(m.from);
		}
		vt_mc_shared_unlock();
	}
}

void vt_mc_messages_look_all(int wait)
{
	const struct vt_mc_object *o = NULL;

	while (vt_mc_shared->inbox[vt_mc_rank] && (o = vt_mc_object_next(VT_MC_COMM, o))) {
		if (!o->freed) {
			vt_mc_messages_look(o, wait);
		}
	}
}

/* At the end, when all ranks are in MPI_Finalize. */
void vt_mc_report_pending(void)
{
	struct vt_mc_shared *s = vt_mc_shared;
	char lines[4000] = "", place[300], line[500];
	size_t n = 0;
	long long most = vt_mc_limit("CHECK-MAX-PENDING", 20);
	int at, total = 0;

	if (!s || !vt_mc_on(VT_MC_PENDING)) {
		return;
	}
	vt_mc_messages_look_all(1);
	vt_mc_shared_lock();
	for (at = s->inbox[vt_mc_rank] - 1; at >= 0; at = s->message[at].next - 1) {
		const struct vt_mc_message *m = &s->message[at];

		if (m->elsewhere) {
			continue;
		}
		snprintf(line, sizeof(line), "   from rank %d, tag %d, %llu bytes, by %s   %s\n", m->from, m->tag,
			(unsigned long long)m->bytes, m->name, vt_mc_print_offset(m->place, place, sizeof(place)));
		if (vt_mc_suppress(VT_MC_PENDING, line)) {
			continue;
		}
		if (total++ < most && n < sizeof(lines) - 500) {
			n += (size_t)snprintf(lines + n, sizeof(lines) - n, "%s", line);
		}
	}
	vt_mc_shared_unlock();
	if (total) {
		vt_mc_report_lines(VT_MC_PENDING, lines, "%d message%s sent to this rank and never received", total,
			total == 1 ? " was" : "s were");
	}
}
