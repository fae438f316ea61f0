/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of this process and their numbers in the trace (Intel Trace Collector guide, section 3.1.3,
 * VT_registerthread). 0 is the process itself. Other threads get the lowest free number at their first call, or the
 * number that they ask for. The number of a thread that has ended is given out again. A thread that only the
 * background thread has found has a place instead of a number. It may still choose a number, or get the lowest with
 * its first call. The merge of the raw file then gives the samples of the place to the number. */
#include "config.h"
#include "collector-plugin/core/sink.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

/* Who reads a thread's counters: the background thread; the background thread until it hands them over, because the
 * thread has asked for them; the thread itself. */
enum { OF_BACKGROUND, ASKED, OWN };

/* In which round of destructors a thread's states end: the last. AddressSanitizer takes that round for itself. */
#ifdef __SANITIZE_ADDRESS__
enum { LAST_ROUND = PTHREAD_DESTRUCTOR_ITERATIONS - 1 };
#else
enum { LAST_ROUND = PTHREAD_DESTRUCTOR_ITERATIONS };
#endif

enum { MOST_PLACES = VT_RAW_GROUP - VT_RAW_PLACE };

struct entry {
	pid_t tid;       /* 0: free */
	int chosen;      /* chosen by a call of the thread itself */
	int on, off;     /* VT_traceon(), VT_traceoff(): what the thread itself called */
	int counts;      /* enum: does the thread read its own counters at its events? */
	uint64_t *total; /* while it asks for its counters: where their values go */
	size_t n_total;
	struct vt_thread *thread;
	char *name; /* of the last thread with this number */
};

/* The place of a thread that has not called us. It is free again when the thread ends. */
struct place {
	pid_t tid;  /* 0: free */
	int owners; /* so far */
	/* a thread left it for a number: no other thread gets this place, since its samples would go to that number */
	int left;
};

static VT_WRITTEN_IN_CHILD struct {
	struct vt_lock lock;
	struct entry *entry; /* by number */
	int room;
	struct place *place; /* by place, less VT_RAW_PLACE */
	int n_places;
	pthread_key_t key; /* its destructor is called when a thread ends */
	int have_key;
	pthread_cond_t answered;
	int have_answered;
	_Atomic int n_asking; /* number of threads that ask, at least; 0: none */
} table = { .lock = VT_LOCK_INIT };

static pid_t my_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static int make_room_for_thread(int number)
{
	if (number >= (int)VT_RAW_PLACE) {
		return -1;
	}
	return number < table.room ? 0 : TKM_EXTEND(table.entry, table.room, number + 1);
}

static int find_known_thread(pid_t tid)
{
	int i;

	for (i = 0; i < table.room; i++) {
		if (table.entry[i].tid == tid) {
			return i;
		}
	}
	return -1;
}

/* Returns the lowest free number; 0 is reserved for the thread that is the process. */
static int lowest_free_number(pid_t tid)
{
	int i;

	for (i = tid == getpid() ? 0 : 1; i < table.room && table.entry[i].tid != 0; i++) {
	}
	return make_room_for_thread(i) == 0 ? i : -1;
}

static int place_of_tid(pid_t tid)
{
	int i;

	for (i = 0; i < table.n_places && table.place[i].tid != tid; i++) {
	}
	return i < table.n_places ? i : -1;
}

static int new_place(pid_t tid)
{
	int i;

	for (i = 0; i < table.n_places && (table.place[i].tid != 0 || table.place[i].left); i++) {
	}
	if (i == table.n_places && (i == MOST_PLACES || TKM_EXTEND(table.place, table.n_places, i + 1) < 0)) {
		return -1;
	}
	table.place[i].tid = tid;
	table.place[i].owners++;
	return i;
}

/* Returns the place that a thread leaves for a number, if all samples there are its own; 0: none. */
static uint32_t release_place(pid_t tid)
{
	int i = place_of_tid(tid);

	if (i < 0) {
		return 0;
	}
	table.place[i].tid = 0;
	table.place[i].left = 1;
	return table.place[i].owners == 1 ? VT_RAW_PLACE + (uint32_t)i : 0;
}

/* Gives a thread a number or a place. */
static int assign(pid_t tid)
{
	int n = find_known_thread(tid);

	if (n < 0 && tid != getpid()) {
		n = place_of_tid(tid);
		n = n < 0 ? new_place(tid) : n;
		return n < 0 ? -1 : (int)VT_RAW_PLACE + n;
	}
	if (n < 0) {
		n = lowest_free_number(tid);
		if (n >= 0) {
			table.entry[n].tid = tid;
			table.entry[n].chosen = 0;
			table.entry[n].thread = NULL;
		}
	}
	return n;
}

int vt_threads_number(pid_t tid)
{
	int n;

	vt_lock(&table.lock);
	n = assign(tid);
	vt_unlock(&table.lock);
	return n;
}

int vt_threads_where(pid_t tid)
{
	int n;

	vt_lock(&table.lock);
	n = find_known_thread(tid);
	if (n < 0) {
		n = place_of_tid(tid);
		n += n < 0 ? 0 : (int)VT_RAW_PLACE;
	}
	vt_unlock(&table.lock);
	return n;
}

static void release(int n)
{
	table.entry[n].on = table.entry[n].off = 0;
	table.entry[n].counts = OF_BACKGROUND;
	table.entry[n].tid = 0;
	table.entry[n].chosen = 0;
	table.entry[n].thread = NULL;
}

void vt_threads_gone(pid_t tid)
{
	int n;

	vt_lock(&table.lock);
	n = find_known_thread(tid);
	/* a thread that registered itself reports its own end */
	if (n >= 0 && !table.entry[n].thread) {
		release(n);
	}
	n = place_of_tid(tid);
	if (n >= 0) {
		table.place[n].tid = 0;
	}
	vt_unlock(&table.lock);
}

void vt_threads_switch(const struct vt_thread *t, int on)
{
	vt_lock(&table.lock);
	if (t->number >= 0 && t->number < table.room) {
		table.entry[t->number].on = on;
		table.entry[t->number].off = !on;
		if (t->slot) {
			atomic_store(&t->slot->off, on ? 1 : 2);
		}
	}
	vt_unlock(&table.lock);
}

int vt_threads_off(pid_t tid)
{
	int n, off = vt_process_off();

	vt_lock(&table.lock);
	n = find_known_thread(tid);
	if (n >= 0 && off != 2) {
		off = table.entry[n].off || (off && !table.entry[n].on);
	}
	vt_unlock(&table.lock);
	return off != 0;
}

static int make_answered(void)
{
	pthread_condattr_t clock;

	if (!table.have_answered && pthread_condattr_init(&clock) == 0) {
		pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
		table.have_answered = pthread_cond_init(&table.answered, &clock) == 0;
		pthread_condattr_destroy(&clock);
	}
	return table.have_answered;
}

int vt_threads_take_over(struct vt_collect *c, pid_t tid, uint64_t *total, size_t n_total)
{
	struct timespec until;
	int n, rc = -1;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 250000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	vt_lock(&table.lock);
	n = find_known_thread(tid);
	if (n >= 0 && make_answered()) {
		table.entry[n].counts = ASKED;
		table.entry[n].total = total;
		table.entry[n].n_total = n_total;
		atomic_fetch_add(&table.n_asking, 1);
		vt_raw_wake(c->raw);
		while (table.entry[n].counts == ASKED &&
			vt_lock_wait(&table.lock, &table.answered, &until) != ETIMEDOUT) {
		}
		rc = table.entry[n].counts == ASKED ? -1 : 0;
		table.entry[n].total = NULL;
	}
	vt_unlock(&table.lock);
	return rc;
}

pid_t vt_threads_asking(void)
{
	pid_t tid = 0;
	int i;

	if (atomic_load(&table.n_asking) == 0) {
		return 0;
	}
	vt_lock(&table.lock);
	for (i = 0; i < table.room && tid == 0; i++) {
		tid = table.entry[i].counts == ASKED ? table.entry[i].tid : 0;
	}
	if (tid == 0) {
		atomic_store(&table.n_asking, 0);
	}
	vt_unlock(&table.lock);
	return tid;
}

void vt_threads_hand_over_counters(pid_t tid, const uint64_t *total, size_t n_total)
{
	struct entry *e;
	int n;

	vt_lock(&table.lock);
	n = find_known_thread(tid);
	e = n >= 0 ? &table.entry[n] : NULL;
	if (e && e->counts == ASKED) {
		e->counts = OWN;
		if (e->total && total && n_total == e->n_total) {
			memcpy(e->total, total, n_total * sizeof(*total));
		}
		pthread_cond_broadcast(&table.answered);
	}
	vt_unlock(&table.lock);
}

int vt_threads_counts(pid_t tid)
{
	int n, counts;

	vt_lock(&table.lock);
	n = find_known_thread(tid);
	counts = n >= 0 && table.entry[n].counts != OF_BACKGROUND;
	vt_unlock(&table.lock);
	return counts;
}

void vt_threads_forget(void)
{
	/* the thread that held the lock does not exist here */
	vt_lock_forget(&table.lock);
	if (table.room) {
		memset(table.entry, 0, (size_t)table.room * sizeof(*table.entry));
	}
	if (table.n_places) {
		memset(table.place, 0, (size_t)table.n_places * sizeof(*table.place));
	}
	VT_SET_IF_OTHER(table.have_answered, 0);
	memset(&vt_tls, 0, sizeof(vt_tls)); /* on the page of the thread that called fork, which is written anyway */
	vt_sinks_forked();
}

int vt_threads_restart(int keep_names)
{
	struct vt_thread *mine = vt_tls.thread;
	int i, more = !keep_names && vt_names_any();

	vt_lock(&table.lock);
	for (i = 0; i < table.room; i++) {
		more |= (!keep_names && table.entry[i].name != NULL) ||
			(table.entry[i].thread && table.entry[i].thread != mine);
	}
	if (!more && mine) {
		release(mine->number);
		pthread_setspecific(table.key, NULL);
	}
	vt_unlock(&table.lock);
	if (more) {
		return -1;
	}
	vt_sinks_restart();
	if (mine) {
		vt_sinks_thread_ended(mine);
		free(mine);
		vt_tls.state = VT_TLS_NEW;
		vt_tls.collect = NULL;
		vt_tls.thread = NULL;
		vt_tls.wanted = 0;
		vt_tls.quiet_until = 0;
	}
	return 0;
}

#ifdef __SANITIZE_ADDRESS__
void __asan_unpoison_memory_region(const volatile void *at, size_t n);
#endif

/* Called at the end of a thread that has called the interface. */
static void thread_key_destroyed(void *arg)
{
	struct vt_thread *t = arg;
	int n;

#ifdef __SANITIZE_ADDRESS__
	/* If the thread was cancelled, AddressSanitizer takes the frames that it left for frames in use, and reports the
	 * first access here. It does so in any program whose thread has such a destructor. */
	__asan_unpoison_memory_region((char *)__builtin_frame_address(0) - 16384, 16384);
#endif
	if (t->rounds == 0 && vt_hooks.thread_ending) {
		vt_hooks.thread_ending();
	}
	/* destructors of the program that come later may call us */
	if (++t->rounds < LAST_ROUND && pthread_setspecific(table.key, t) == 0) {
		return;
	}
	/* From here on and for good, what a signal handler calls in this thread is not recorded: it would find what is being
	 * freed. */
	vt_tls.state = VT_TLS_NEW;
	vt_inside_begin();
	vt_tls.inside_at = UINTPTR_MAX;
	atomic_signal_fence(memory_order_seq_cst);
	if (vt_tls.collect && vt_tls.collect == vt_collect_running()) {
		vt_sinks_thread_ends(t);
	}
	/* from here on the thread is not sampled, and its number may be given to another thread */
	vt_lock(&table.lock);
	n = find_known_thread(t->tid);
	if (n >= 0 && table.entry[n].thread == t) {
		release(n);
	}
	if (t->slot && vt_life.here) {
		atomic_store(&t->slot->tid, 0);
	}
	vt_unlock(&table.lock);
	vt_sinks_thread_ended(t);
	vt_tls.wanted = 0;
	if (vt_tls.collect && vt_tls.collect == vt_collect_running() && t->stream) {
		vt_raw_stream_end(t->stream);
	}
	vt_tls.collect = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	vt_tls.thread = NULL;
	free(t);
}

void vt_threads_each(void (*f)(const struct vt_thread *t))
{
	int i;

	vt_lock(&table.lock);
	for (i = 0; i < table.room; i++) {
		if (table.entry[i].thread) {
			f(table.entry[i].thread);
		}
	}
	vt_unlock(&table.lock);
}

/* Shows the sampler process which number a thread has, and shares the thread's counters with it. The caller holds
 * table.lock. */
static void publish_thread(struct vt_collect *c, struct vt_thread *t)
{
	struct vt_raw_thread_slot *slot;
	int i;

	for (i = 0; !t->slot && (slot = vt_raw_slot(c->raw, i)) != NULL; i++) {
		if (atomic_load(&slot->tid) == 0) {
			t->slot = slot;
			atomic_store(&slot->off, 0);
			atomic_store(&slot->sampling, 0);
			atomic_store(&slot->aside, 0);
			atomic_store(&slot->turn.busy, 0);
			atomic_store(&slot->turn.lost, 0);
		}
	}
	if (t->slot) {
		atomic_store(&t->slot->number, t->number);
		atomic_store(&t->slot->tid, (int32_t)t->tid);
	}
}

static VT_ErrorCode claim_slot(struct vt_thread *t, int number)
{
	int has = find_known_thread(t->tid);

	if (number < 0) {
		number = has >= 0 ? has : lowest_free_number(t->tid);
		if (number < 0) {
			return VT_ERR_NOMEMORY;
		}
	} else if (has >= 0 && table.entry[has].chosen && has != number) {
		return VT_ERR_BADARG;
	} else if (make_room_for_thread(number) != 0) {
		return VT_ERR_BADINDEX;
	} else if (table.entry[number].tid != 0 && table.entry[number].tid != t->tid) {
		return VT_ERR_BADINDEX;
	} else if (has >= 0 && has != number) {
		release(has);
	}
	table.entry[number].tid = t->tid;
	table.entry[number].chosen = 1;
	table.entry[number].thread = t;
	t->number = number;
	if (t->stream) {
		vt_raw_no_owner(t->stream);
	}
	return VT_OK;
}

/* Names the number that t has. The first name stays: "threads with the same number cannot have different names".
 * Naming it again is an error only for a thread that has a name already. */
static VT_ErrorCode set_thread_name(struct vt_collect *c, struct vt_thread *t, const char *name, int again)
{
	struct entry *e = &table.entry[t->number];

	if (e->name) {
		return !again || strcmp(e->name, name) == 0 ? VT_OK : VT_ERR_BADARG;
	}
	e->name = strdup(name);
	if (!e->name) {
		return VT_ERR_NOMEMORY;
	}
	vt_raw_thread(c->raw, (uint32_t)t->number, (uint64_t)t->tid, name);
	return VT_OK;
}

VT_ErrorCode vt_threads_register(struct vt_collect *c, struct vt_thread *t, int number, const char *name)
{
	int before = t->number, first;
	VT_ErrorCode rc;

	vt_lock(&table.lock);
	first = before < 0 || !table.entry[before].chosen;
	rc = number >= 0 || before < 0 ? claim_slot(t, number) : VT_OK;
	if (rc == VT_OK) {
		publish_thread(c, t);
	}
	if (rc == VT_OK && t->number != before) {
		vt_raw_thread_from(c->raw, (uint32_t)t->number, release_place(t->tid), (uint64_t)t->tid,
			table.entry[t->number].name ? table.entry[t->number].name : "");
	}
	if (rc == VT_OK && name && name[0]) {
		rc = set_thread_name(c, t, name, !first);
	}
	vt_unlock(&table.lock);
	return rc;
}

/* Early: for one of the first 32 keys pthread_setspecific() allocates nothing, and a thread may be registered by a signal
 * handler that interrupted malloc(). */
__attribute__((constructor(101))) static void make_key(void)
{
	table.have_key = pthread_key_create(&table.key, thread_key_destroyed) == 0;
}

VT_ErrorCode vt_threads_self(struct vt_collect *c, int number, struct vt_thread **out)
{
	struct vt_thread *t = calloc(1, sizeof(*t));
	VT_ErrorCode rc;

	if (!t) {
		return VT_ERR_NOMEMORY;
	}
	t->tid = my_tid();
	t->number = -1;
	rc = vt_threads_register(c, t, number, NULL);
	if (rc != VT_OK) {
		free(t);
		return rc;
	}
	t->stream = vt_raw_stream(c->raw);
	if (table.have_key) {
		pthread_setspecific(table.key, t);
	}
	*out = t;
	return VT_OK;
}
