/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads PAPI and libsde at run time, and initialises PAPI in a thread of its own. */
#include "config.h"
#include "sampler/sources/papi_lib.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

static struct smp_papi papi;

/* What the loading thread and its caller share; it may be needed after the caller has given up. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t done;
	enum { NOT_TRIED, LOADING, READY, FAILED } state;
	pid_t owner;
	char why[SMP_TEXT];
} shared = { .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };

static __thread int known_to_papi
	__attribute__((tls_model("initial-exec"))); /* no malloc() at its first use in a thread */

/* PAPI runs one event set per component and thread number. A set that another thread of ours has attached to this one
 * is under the thread's own number; one that the thread opens itself must be of another, or one of the two fails. */
static unsigned long thread_id(void)
{
	return (unsigned long)gettid() | 1ul << 40;
}

void smp_papi_enter(const struct smp_papi *p)
{
	if (!known_to_papi) {
		known_to_papi = 1;
		p->register_thread();
	}
}

/* A copy of the file that `handle` was loaded from, as a file without a name. Returns a descriptor or -1. */
static int copy_of_library(void *handle)
{
	struct link_map *map = NULL;
	int from, to = -1;
	ssize_t n = 0;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || (from = open(map->l_name, O_RDONLY | O_CLOEXEC)) < 0) {
		return -1;
	}
	to = memfd_create("papi", MFD_CLOEXEC);
	while (to >= 0 && (n = sendfile(to, from, NULL, 1 << 30)) > 0) {
	}
	if (to >= 0 && n < 0) {
		close(to);
		to = -1;
	}
	close(from);
	return to;
}

/* PAPI cannot be shared with a program that uses it too: only the thread that has initialised it may call all
 * of it, and that would be ours. So we load a copy, which a program that loads PAPI later does not get. */
static void *load_copy(const char *name)
{
	void *original = dlopen(name, RTLD_LAZY | RTLD_LOCAL), *handle = NULL;
	char path[48];
	int fd;

	if (!original) {
		return NULL;
	}
	fd = smp_fd_high(copy_of_library(original));
	if (fd >= 0) {
		/* not "self", and left open: a debugger opens it by this name too, and must not get its own descriptor */
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	if (!handle) {
		if (fd >= 0) {
			close(fd);
		}
		return original; /* where memory may not be executed */
	}
	dlclose(original);
	return handle;
}

/* dl_iterate_phdr: stops at a PAPI, whichever version it is, and copies its name. */
static int is_papi(struct dl_phdr_info *info, size_t size, void *name)
{
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "libpapi.so", 10) != 0) {
		return 0;
	}
	snprintf(name, PATH_MAX, "%s", info->dlpi_name);
	return 1;
}

/* The PAPI that the program has loaded itself; NULL: none. */
static void *papi_of_program(void)
{
	char name[PATH_MAX];

	return dl_iterate_phdr(is_papi, name) ? dlopen(name, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

/* The one that the program has; else the one that we were built with, then others, whose own check of the version
 * decides. Returns the library, or NULL with the reason. *shared_lib: the program has it too. */
static void *find_papi(int *shared_lib, char why[SMP_TEXT])
{
	/* each minor version has a name of its own */
	const int major = PAPI_VERSION_MAJOR(PAPI_VERSION), minor = PAPI_VERSION_MINOR(PAPI_VERSION);
	char name[3][32];
	void *handle = papi_of_program();
	int i;

	*shared_lib = handle != NULL;
	snprintf(name[0], sizeof(name[0]), "libpapi.so.%d.%d", major, minor);
	snprintf(name[1], sizeof(name[1]), "libpapi.so.%d", major);
	snprintf(name[2], sizeof(name[2]), "libpapi.so");
	for (i = 0; i < 3 && !handle; i++) {
		handle = load_copy(name[i]);
	}
	if (!handle) {
		smp_why(why,
			"PAPI could not be loaded (%s): install it (Debian: libpapi%d.%d), or set LD_LIBRARY_PATH; "
			"perf_* counters work without it",
			name[0], major, minor);
	}
	return handle;
}

static int load_papi(char why[SMP_TEXT])
{
	static const char *const symbol[] = {
#define X(call) "PAPI_" #call,
		SMP_PAPI_CALLS(X)
#undef X
	};
	void **slot = (void **)&papi, *handle;
	int rc, shared_lib;
	size_t i;

	handle = find_papi(&shared_lib, why);
	for (i = 0; handle && i < sizeof(symbol) / sizeof(symbol[0]); i++) {
		slot[i] = dlsym(handle, symbol[i]);
		if (!slot[i]) {
			return smp_why(why,
				"the PAPI library that was found lacks %s: another version than %d.%d is needed",
				symbol[i], PAPI_VERSION_MAJOR(PAPI_VERSION), PAPI_VERSION_MINOR(PAPI_VERSION));
		}
	}
	if (!handle) {
		return -1;
	}
	if (shared_lib && gettid() != getpid()) {
		return smp_why(why,
			"the program uses PAPI itself, and PAPI cannot be shared with it from another thread; perf_* "
			"counters "
			"count the same events");
	}
	/* Software-defined events: PAPI looks for this library in the global scope, and libraries that count with
	 * it may come later. Not there: no such events. */
	dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL);
	rc = papi.library_init(PAPI_VER_CURRENT);
	if (rc != PAPI_VER_CURRENT) {
		return rc > 0 ? smp_why(why,
					"the PAPI library that was found is of version %d.%d, this program was built "
					"with %d.%d",
					PAPI_VERSION_MAJOR(rc), PAPI_VERSION_MINOR(rc),
					PAPI_VERSION_MAJOR(PAPI_VERSION), PAPI_VERSION_MINOR(PAPI_VERSION))
			      : smp_why(why, "PAPI could not be initialised: %s", papi.strerror(rc));
	}
	if (!shared_lib) {
		papi.thread_init(thread_id);
	}
	known_to_papi = 1;
	return 0;
}

static void *loader(void *arg)
{
	char why[SMP_TEXT] = "";
	int rc = load_papi(why);

	(void)arg;
	pthread_mutex_lock(&shared.lock);
	if (shared.state == LOADING) {
		shared.state = rc == 0 ? READY : FAILED;
		memcpy(shared.why, why, sizeof(why));
	}
	pthread_cond_broadcast(&shared.done);
	pthread_mutex_unlock(&shared.lock);
	return NULL;
}

/* The thread takes no signal that the program waits for. */
static int start_loader(void)
{
	pthread_t thread;
	pthread_attr_t attr;
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, &attr, loader, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

static void wait_for_loader(double limit)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)limit;
	until.tv_nsec += (long)((limit - (double)(time_t)limit) * 1e9);
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	while (shared.state == LOADING) {
		if (pthread_cond_clockwait(&shared.done, &shared.lock, CLOCK_MONOTONIC, &until)) {
			break;
		}
	}
	if (shared.state == LOADING) {
		shared.state = FAILED;
		smp_why(shared.why,
			"PAPI was not ready after %.3g s and was given up: papi_component_avail shows which component "
			"hangs; "
			"perf_* counters work without it",
			limit);
	}
}

/* Does the program use PAPI, and is this its main thread? */
static int in_program(void)
{
	void *handle = gettid() == getpid() ? papi_of_program() : NULL;

	if (handle) {
		dlclose(handle);
	}
	return handle != NULL;
}

void smp_prepare(const struct smp_env *env)
{
	char why[SMP_TEXT];

	if (in_program()) {
		smp_papi_get(env, why);
	}
}

const struct smp_papi *smp_papi_get(const struct smp_env *env, char why[SMP_TEXT])
{
	const struct smp_papi *found = NULL;

	if (!smp_live(env)) {
		smp_why(why, "a snapshot has no PAPI");
		return NULL;
	}
	pthread_mutex_lock(&shared.lock);
	if (shared.state == NOT_TRIED) {
		shared.owner = getpid();
		shared.state = LOADING;
		if (in_program()) {
			/* the program's own call would take as long */
			shared.state = load_papi(shared.why) == 0 ? READY : FAILED;
		} else if (start_loader()) {
			shared.state = FAILED;
			smp_why(shared.why, "no thread to initialise PAPI in");
		}
		wait_for_loader(env->limit_s > 0 ? env->limit_s : 2);
	}
	if (shared.state == READY && shared.owner == getpid()) {
		smp_papi_enter(&papi);
	}
	if (shared.owner != getpid()) {
		smp_why(why, "PAPI does not follow a fork; perf_* counters do");
	} else if (shared.state == READY) {
		found = &papi;
	} else {
		smp_why(why, "%s", shared.why);
	}
	pthread_mutex_unlock(&shared.lock);
	return found;
}

const struct smp_sde *smp_sde_get(void)
{
	static struct smp_sde sde;
	struct smp_sde found;

	/* where PAPI looks for them */
	*(void **)&found.name_to_code = dlsym(RTLD_DEFAULT, "sde_ti_name_to_code");
	*(void **)&found.read_counter = dlsym(RTLD_DEFAULT, "sde_ti_read_counter");
	if (!found.name_to_code || !found.read_counter) {
		return NULL;
	}
	sde = found;
	return &sde;
}
