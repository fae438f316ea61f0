/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the VT interface: what a call knows about the thread that makes it, and the tables of names. Stated
 * by the guide in seeds/003 section 3.1; shared by vt_*.c and the MPI wrappers. */
#ifndef COLLECTOR_PLUGIN_VT_PRIVATE_H
#define COLLECTOR_PLUGIN_VT_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "collector-plugin/api/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/turn.h"

#define VT_HIDDEN __attribute__((visibility("hidden")))
#define VT_LIKELY(x) __builtin_expect(!!(x), 1)

/* What a thread's calls do; looked at first, so that a call that is off is a load and a jump. */
enum vt_tls_state {
	VT_TLS_NEW,  /* nobody has looked yet: vt_self_slow() */
	VT_TLS_OFF,  /* VT_traceoff(), PROCESS OFF or NO */
	VT_TLS_ON,
};

/* Counters that are read at state changes of one thread (vt_sample.c). */
struct vt_sampling {
	struct smp_set *set;          /* of the thread; NULL: it has none */
	int process;                  /* are there counters of the process? */
	uint32_t *id;
	union smp_value *value;
	uint8_t *state;
	uint64_t *base;               /* added to each: where the background thread's count stood */
	uint32_t *out_id;
	uint64_t *out;
	int64_t next;                 /* not before this tick (COUNTER-MIN-INTERVAL) */
	/* two read it: the thread itself, and vt_reader.c between its events; whoever is at it owns what stands above */
	struct vt_turn turn;
	pid_t tid;
	int over;                     /* it has taken them over from the background thread */
	int64_t last;                 /* stamp of the latest event that was sampled */
	int64_t aside;                /* of the background thread's latest sample, if they are not taken over */
	int64_t read_at;              /* and of the latest reading in between, whose values are in `value` */
	int valid;                    /* what that returned */
	unsigned left_out;            /* samples at events: another one did not give back its turn */
	struct vt_sampling *following; /* of vt_reader.c */
	int listed;
	VT_CountCallback_t callback;
	void *custom;
	VT_ErrorCode (*deliver)(ltick_t now, int n, const int *handles, const void *values);
	int n;                        /* places below */
	int *handles;
	uint64_t *values;
};

struct vt_tls {
	enum vt_tls_state state;
	int inside;                   /* calls of this thread under way: no sampling in sampling */
	struct vt_collect *collect;   /* that this belongs to */
	struct vt_thread *thread;
	int wanted;                   /* some sink wants its events (core/sink.h); 0: they trigger nothing */
	struct vt_sampling *sampling; /* of the sampling sink (vt_sample.c) */
};

extern _Thread_local struct vt_tls vt_tls VT_HIDDEN __attribute__((tls_model("initial-exec")));

/* The state of the calling thread, registered if it was not; VT_ERR_NOTINITIALIZED if nothing runs. */
VT_HIDDEN VT_ErrorCode vt_self_slow(void);

/* Registers the calling thread with c under this number, -1: any. */
VT_HIDDEN VT_ErrorCode vt_enrol(struct vt_collect *c, int number);

static inline VT_ErrorCode vt_self(void)
{
	struct vt_collect *c = vt_collect_running();

	if (VT_LIKELY(c && c == vt_tls.collect)) {
		return VT_OK;
	}
	return vt_self_slow();
}

/* A state change of the calling thread: VT_ calls and MPI calls make it. Cheap where nothing is sampled. */
VT_HIDDEN VT_ErrorCode vt_event_slow(void);

static inline VT_ErrorCode vt_event(void)
{
	if (VT_LIKELY(vt_tls.state == VT_TLS_OFF ||
		(vt_tls.state == VT_TLS_ON && !vt_tls.wanted && vt_tls.collect == vt_collect_running()))) {
		return VT_OK;
	}
	return vt_event_slow();
}

struct vt_sink_ops;
/* The sink that reads the counters of c->plan at the events of each thread. */
extern const struct vt_sink_ops vt_sampling_sink VT_HIDDEN;
/* Makes the calling thread's events call `callback` for the values of n counters, as VT_countsetcallback(); deliver records what it
 * returned. NULL: no callback. VT_ERR_NOMEMORY, or VT_ERR_INVT from inside a callback. */
VT_HIDDEN VT_ErrorCode vt_sampling_callback(VT_CountCallback_t callback, void *custom, int n,
	VT_ErrorCode (*deliver)(ltick_t now, int n, const int *handles, const void *values));
/* A sample of `s`, of thread number `where`, by another thread than its own, unless that is at it. */
VT_HIDDEN void vt_sample_other(struct vt_sampling *s, struct vt_collect *c, struct vt_raw_stream *stream, int where);

/* vt_reader.c: a thread that reads its set, until it is removed; periodic samples of that set if it has been taken over. */
VT_HIDDEN void vt_reader_add(struct vt_collect *c, struct vt_sampling *s);
VT_HIDDEN void vt_reader_remove(struct vt_sampling *s);

/* vt_process.c: opens those of the process, for all of its threads; returns how many there are. */
VT_HIDDEN size_t vt_process_open(struct vt_collect *c);
/* Closes them, before their plan. */
VT_HIDDEN void vt_process_begin_anew(void);
VT_HIDDEN void vt_process_forget(void);
/* A sample of the process at an event of the calling thread. Its stamp is the event's, unless another thread has meanwhile
 * recorded one with a later stamp: then VT_SAMPLE_LATER, and with `later` it gets a stamp of its own, behind these. */
enum vt_sampled { VT_SAMPLED, VT_SAMPLE_LATER, VT_SAMPLE_LOST };
VT_HIDDEN enum vt_sampled vt_process_sample(ltick_t now, int later);

/* Takes the collector's options out of the program's arguments; before vt_collect_start(). */
VT_HIDDEN void vt_take_arguments(int *argc, char ***argv);

/* ---- threads ---- */

/* Registers the calling thread, number -1: any. *t stays valid until the thread ends. */
VT_HIDDEN VT_ErrorCode vt_threads_self(struct vt_collect *c, int number, struct vt_thread **t);
/* Another number for the calling thread, or a name, or both (number -1, name NULL: not that). */
VT_HIDDEN VT_ErrorCode vt_threads_register(struct vt_collect *c, struct vt_thread *t, int number, const char *name);
/* VT_traceon(), VT_traceoff() of the calling thread, for the background thread to know. */
VT_HIDDEN void vt_threads_switch(const struct vt_thread *t, int on);

/* ---- names ---- */

/* A table from text to number, 1, 2, 3, ... in the order of arrival; names are never forgotten. Any thread. */
struct vt_names {
	pthread_mutex_t lock;
	char **key;
	uint32_t *slot; /* hash table of numbers, size a power of two */
	uint32_t n, room, slots;
};
#define VT_NAMES_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }
/* The number of key; *fresh is 1 when it was not there before. 0: no memory. */
VT_HIDDEN uint32_t vt_names_number(struct vt_names *t, const char *key, int *fresh);
/* Around a call of it and the recording of what is fresh: another thread that gets the same number must not refer to it in
 * the raw file, or record values of it, ahead of its definition. May be nested. */
VT_HIDDEN void vt_names_define(void);
VT_HIDDEN void vt_names_defined(void);
/* Is there a name in any table? */
VT_HIDDEN int vt_names_any(void);
/* How many there are. */
VT_HIDDEN uint32_t vt_names_count(struct vt_names *t);
/* The text of number 1 to count; it stays. */
VT_HIDDEN const char *vt_names_text(struct vt_names *t, uint32_t number);

/* ":A::B:" as "A:B" in a buffer that is to be freed; "" for NULL. NULL: no memory. */
VT_HIDDEN char *vt_clean_name(const char *name);

/* The number of a class, its parents before it, or of a function; recorded. 0: no memory. */
VT_HIDDEN uint32_t vt_class(struct vt_collect *c, const char *clean);
VT_HIDDEN uint32_t vt_function(struct vt_collect *c, const char *class_name, const char *name);

/* Groups: where a value of a counter with this target belongs when the calling thread has it. */
enum { VT_WHERE_THREAD = -1, VT_WHERE_ELSEWHERE = -2, VT_WHERE_NOTHING = -3 /* no such target */ };
VT_HIDDEN int vt_target_where(const struct vt_collect *c, int target);
/* The handle of the latest group of this name, upper and lower case alike; 0: there is none. */
VT_HIDDEN int vt_group_named(const char *name);

#endif
