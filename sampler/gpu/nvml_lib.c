/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads NVML and runs the threads that call it (nvml_lib.h): one for what is read at each sample, and one for what lasts long. */
#include "config.h"
#include "sampler/gpu/nvml_lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* MOST_DEVICES: a count beyond that is none. AGAIN_NS: how often the library is begun anew while a GPU is lost, and GPUs that it counts
 * and does not open are looked for. */
enum { MOST_DEVICES = 1024 };
static const int64_t AGAIN_NS = 5000000000;

struct device_list {
	struct smp_nvml_device *device;
	size_t n, room;
};

struct lane {
	pthread_cond_t wake;
	unsigned users[SMP_NVML_ITEMS]; /* sets that want it */
	unsigned more;                  /* items for the next reading only */
	uint64_t asked, done;           /* numbers of readings */
	int64_t done_ns;
	int is_started, is_late; /* the reading that goes on was not ready in time */
	struct device_list found;
	/* of the thread alone */
	struct device_list own;
	int64_t begun_ns, looked_ns;
	unsigned
		stated; /* how many GPUs the library counted at the last look: in a job, also those that it may not open */
	int is_begun; /* what this lane began is to be shut down */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t done;
	enum { NOT_TRIED, LOADED, BEGINNING, READY, FAILED } state;
	int gave_up; /* it was waited for in vain while BEGINNING */
	pid_t owner;
	char why[SMP_TEXT];
	struct lane lane[SMP_NVML_LANES];
} shared = { .lock = PTHREAD_MUTEX_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
	.lane = { { .wake = PTHREAD_COND_INITIALIZER }, { .wake = PTHREAD_COND_INITIALIZER } } };
static struct smp_nvml_calls lib;

int64_t smp_nvml_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the library --------------------------------------------------------------------------------- */

static const char library_name[] = "libnvidia-ml.so.1";

static int find_nvml_calls(char why[SMP_TEXT])
{
	void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		return smp_why(why,
			"%s is not here: it comes with the driver of NVIDIA's GPUs, and a container needs it, too",
			library_name);
	}
#define X(call, arguments) *(void **)&lib.call = dlsym(handle, "nvml" #call);
	SMP_NVML_NEEDED(X)
	SMP_NVML_OPTIONAL(X)
#undef X
#define X(call, arguments) \
	if (!lib.call) { \
		return smp_why(why, "%s lacks nvml" #call ": a newer driver is needed", library_name); \
	}
	SMP_NVML_NEEDED(X)
#undef X
	return 0;
}

static void say_why_not_begun(int rc, char why[SMP_TEXT])
{
	switch (rc) {
	case SMP_NVML_DRIVER_NOT_LOADED:
		smp_why(why, "the driver of NVIDIA's GPUs is not loaded: nvidia-smi says more");
		break;
	case SMP_NVML_NO_PERMISSION:
		smp_why(why,
			"NVML may not open the GPUs: this user, or the cgroup of the job, has no right to /dev/nvidia*");
		break;
	case SMP_NVML_VERSION_MISMATCH:
		smp_why(why, "%s is of another version than the driver that is loaded: reload it, or reboot",
			library_name);
		break;
	default:
		smp_why(why, "NVML could not be initialised (nvmlReturn_t %d): nvidia-smi says more", rc);
	}
}

/* ---- devices ------------------------------------------------------------------------------------- */

/* An identifier is part of a counter's name. */
static int is_uuid(const char *text)
{
	size_t i;

	for (i = 0; text[i]; i++) {
		if (text[i] <= ' ' || text[i] >= 127 || text[i] == ':') {
			return 0;
		}
	}
	return i > 0;
}

static struct smp_nvml_device *device_of_uuid(const struct device_list *list, const char *uuid)
{
	size_t i;

	for (i = 0; i < list->n && strcmp(list->device[i].uuid, uuid) != 0; i++) {
	}
	return i < list->n ? &list->device[i] : NULL;
}

/* Its identifier as the library says it now. Returns its code. */
static int uuid_of_handle(smp_nvml_handle handle, char uuid[SMP_NVML_UUID])
{
	int rc = lib.DeviceGetUUID(handle, uuid, SMP_NVML_UUID);

	uuid[SMP_NVML_UUID - 1] = '\0';
	return rc == SMP_NVML_SUCCESS && !is_uuid(uuid) ? SMP_NVML_UNKNOWN : rc;
}

/* Returns -1 where the indices end. */
static int see_device(struct device_list *list, unsigned index)
{
	char uuid[SMP_NVML_UUID] = "";
	struct smp_nvml_device *d;
	smp_nvml_handle handle = NULL;
	int rc = lib.DeviceGetHandleByIndex_v2(index, &handle);

	if (rc != SMP_NVML_SUCCESS || uuid_of_handle(handle, uuid) != SMP_NVML_SUCCESS) {
		return rc == SMP_NVML_INVALID_ARGUMENT ? -1 : 0; /* one that is lost, or of others, may be between */
	}
	d = device_of_uuid(list, uuid);
	if (!d) {
		if (TKM_GROW(list->device, list->room, list->n + 1) < 0) {
			return 0;
		}
		d = &list->device[list->n++];
		memset(d, 0, sizeof(*d));
		memcpy(d->uuid, uuid, sizeof(uuid));
	}
	d->handle = handle;
	d->lost = 0;
	if (!d->name[0] && lib.DeviceGetName &&
		lib.DeviceGetName(handle, d->name, sizeof(d->name)) != SMP_NVML_SUCCESS) {
		d->name[0] = '\0';
	}
	d->name[sizeof(d->name) - 1] = '\0';
	return 0;
}

/* Those that were there and are not are lost. */
static void see_devices(struct lane *l)
{
	unsigned i;
	size_t k;

	for (k = 0; k < l->own.n; k++) {
		l->own.device[k].lost = 1;
	}
	l->looked_ns = smp_nvml_now_ns();
	if (!l->is_begun || lib.DeviceGetCount_v2(&l->stated) != SMP_NVML_SUCCESS) {
		l->stated = 0;
	}
	for (i = 0; i < l->stated && i < MOST_DEVICES && see_device(&l->own, i) == 0; i++) {
	}
}

static int is_one_lost(const struct device_list *list)
{
	size_t k;

	for (k = 0; k < list->n && !list->device[k].lost; k++) {
	}
	return k < list->n || list->n == 0;
}

static size_t count_present(const struct device_list *list)
{
	size_t k, n = 0;

	for (k = 0; k < list->n; k++) {
		n += !list->device[k].lost;
	}
	return n;
}

/* A handle may mean another device after the library has begun anew. */
static void check_handles(struct device_list *list)
{
	char uuid[SMP_NVML_UUID] = "";
	size_t k;

	for (k = 0; k < list->n; k++) {
		struct smp_nvml_device *d = &list->device[k];

		d->lost |=
			!d->lost && (uuid_of_handle(d->handle, uuid) != SMP_NVML_SUCCESS || strcmp(uuid, d->uuid) != 0);
	}
}

static int is_same_count(const struct lane *l, int64_t now_ns)
{
	unsigned n = 0;

	return lib.DeviceGetCount_v2(&n) == SMP_NVML_SUCCESS && n == l->stated &&
		(n == count_present(&l->own) || now_ns - l->looked_ns < AGAIN_NS);
}

/* The library counts who has begun it in this process: only what was begun is shut down. */
static void begin_anew(struct lane *l)
{
	if (l->is_begun) {
		lib.Shutdown();
	}
	l->is_begun = lib.Init_v2() == SMP_NVML_SUCCESS;
	l->begun_ns = smp_nvml_now_ns();
}

static void look_after_devices(struct lane *l)
{
	int64_t now_ns = smp_nvml_now_ns();

	check_handles(&l->own);
	if (l->is_begun && !is_one_lost(&l->own) && is_same_count(l, now_ns)) {
		return;
	}
	see_devices(l);
	if (is_one_lost(&l->own) && now_ns - l->begun_ns >= AGAIN_NS) {
		begin_anew(l);
		see_devices(l);
	}
}

static void read_devices(struct lane *l, unsigned items)
{
	size_t k;
	int i;

	look_after_devices(l);
	for (k = 0; k < l->own.n; k++) {
		struct smp_nvml_device *d = &l->own.device[k];

		for (i = 0; i < SMP_NVML_ITEMS; i++) {
			d->reading[i] =
				(struct smp_nvml_reading){ 0, -1, d->lost ? SMP_NVML_GPU_IS_LOST : SMP_NVML_UNKNOWN };
		}
		if (!d->lost) {
			smp_nvml_read_device(&lib, d, items);
		}
	}
}

/* ---- the threads --------------------------------------------------------------------------------- */

/* With the lock. */
static void publish_reading(struct lane *l, uint64_t number)
{
	l->found.n = 0;
	if (l->own.n && TKM_GROW(l->found.device, l->found.room, l->own.n) == 0) {
		memcpy(l->found.device, l->own.device, l->own.n * sizeof(*l->own.device));
		l->found.n = l->own.n;
	}
	l->done = number;
	l->done_ns = smp_nvml_now_ns();
	l->is_late = 0;
	pthread_cond_broadcast(&shared.done);
}

static unsigned items_of_lane(const struct lane *l)
{
	unsigned items = l->more;
	int i;

	for (i = 0; i < SMP_NVML_ITEMS; i++) {
		items |= l->users[i] ? 1u << i : 0;
	}
	return items;
}

static void serve_readings(struct lane *l)
{
	unsigned items;
	uint64_t number;

	pthread_mutex_lock(&shared.lock);
	for (;;) {
		while (l->asked == l->done) {
			pthread_cond_wait(&l->wake, &shared.lock);
		}
		number = l->asked;
		items = items_of_lane(l);
		l->more = 0;
		pthread_mutex_unlock(&shared.lock);
		read_devices(l, items);
		pthread_mutex_lock(&shared.lock);
		publish_reading(l, number);
	}
}

static void *call_nvml(void *arg)
{
	struct lane *l = arg;
	int rc = lib.Init_v2();

	l->begun_ns = smp_nvml_now_ns();
	l->is_begun = rc == SMP_NVML_SUCCESS;
	pthread_mutex_lock(&shared.lock);
	if (l == &shared.lane[SMP_NVML_FAST_LANE]) {
		shared.state = rc == SMP_NVML_SUCCESS ? READY : FAILED;
		if (rc != SMP_NVML_SUCCESS) {
			say_why_not_begun(rc, shared.why);
		}
		pthread_cond_broadcast(&shared.done);
	}
	pthread_mutex_unlock(&shared.lock);
	if (rc == SMP_NVML_SUCCESS) {
		serve_readings(l);
	}
	return NULL;
}

/* The thread takes no signal that the program waits for. */
static int start_lane(struct lane *l)
{
	pthread_t thread;
	pthread_attr_t attr;
	sigset_t all, old;

	if (l->is_started) {
		return 0;
	}
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	l->is_started = pthread_create(&thread, &attr, call_nvml, l) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return l->is_started ? 0 : -1;
}

static struct timespec time_after(int64_t wait_ns)
{
	int64_t until_ns = smp_nvml_now_ns() + wait_ns;

	return (struct timespec){ until_ns / 1000000000, until_ns % 1000000000 };
}

/* ---- for the source ------------------------------------------------------------------------------ */

/* Begun before a fork, the threads are the parent's, and so may be the lock. */
static int is_of_parent(void)
{
	pid_t owner = __atomic_load_n(&shared.owner, __ATOMIC_RELAXED);

	return owner && owner != getpid();
}

static const char why_foreign[] =
	"a thread inside the program samples it, where NVML would begin threads and open devices; vtsampler can read it: record "
	"without SAMPLER thread, and without PAPI_*, perf_* and sde in the same run";

int smp_nvml_load(const struct smp_env *env, int try_it, char why[SMP_TEXT])
{
	double limit_s = env->limit_s > 0 ? env->limit_s : 2;
	struct timespec until = time_after((int64_t)(limit_s * 1e9));
	int rc;

	if (!smp_live(env)) {
		return smp_why(why, "a snapshot has no NVML");
	}
	if (env->flags & SMP_FOREIGN) {
		return smp_why(why, "%s", why_foreign);
	}
	if (is_of_parent()) {
		return smp_why(why, "NVML does not follow a fork");
	}
	/* before the lock: the child of a fork during what follows must not wait for it */
	__atomic_store_n(&shared.owner, getpid(), __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&shared.lock);
	if (shared.state == NOT_TRIED) {
		shared.state = find_nvml_calls(shared.why) == 0 ? LOADED : FAILED;
	}
	if (try_it && shared.state == LOADED) {
		shared.state = BEGINNING;
		if (start_lane(&shared.lane[SMP_NVML_FAST_LANE]) < 0) {
			shared.state = FAILED;
			smp_why(shared.why, "no thread to call NVML in");
		}
	}
	while (try_it && shared.state == BEGINNING && !shared.gave_up &&
		pthread_cond_clockwait(&shared.done, &shared.lock, CLOCK_MONOTONIC, &until) == 0) {
	}
	if (shared.state == BEGINNING && try_it) {
		shared.gave_up = 1;
		rc = smp_why(why, "NVML is not ready after %.3g s: nvidia-smi shows whether it hangs", limit_s);
	} else {
		rc = shared.state == FAILED ? smp_why(why, "%s", shared.why) : 0;
	}
	pthread_mutex_unlock(&shared.lock);
	return rc;
}

void smp_nvml_want(enum smp_nvml_lane lane, unsigned items, int more)
{
	struct lane *l = &shared.lane[lane];
	int i;

	if (is_of_parent() || !items) {
		return;
	}
	pthread_mutex_lock(&shared.lock);
	for (i = 0; i < SMP_NVML_ITEMS; i++) {
		l->users[i] += items & 1u << i ? (unsigned)more : 0;
	}
	if (shared.state == READY) {
		start_lane(l);
	}
	pthread_mutex_unlock(&shared.lock);
}

void smp_nvml_take(enum smp_nvml_lane lane, unsigned more, int64_t wait_ns, struct smp_nvml_view *view)
{
	struct lane *l = &shared.lane[lane];
	struct timespec until = time_after(wait_ns);
	uint64_t number;

	if (is_of_parent()) {
		*view = (struct smp_nvml_view){ .device = NULL };
		return;
	}
	pthread_mutex_lock(&shared.lock);
	if (shared.state == READY && wait_ns >= 0 && (l->asked == l->done || more)) {
		l->asked++;
		l->more |= more;
		pthread_cond_signal(&l->wake);
	}
	number = l->asked;
	while (l->done < number && !l->is_late && wait_ns > 0) {
		if (pthread_cond_clockwait(&shared.done, &shared.lock, CLOCK_MONOTONIC, &until) != 0) {
			l->is_late = l->done < number;
		}
	}
	*view = (struct smp_nvml_view){ l->found.device, l->found.n, l->done, l->done_ns };
}

void smp_nvml_give_back(void)
{
	if (!is_of_parent()) {
		pthread_mutex_unlock(&shared.lock);
	}
}
