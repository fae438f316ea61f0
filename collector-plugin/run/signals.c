/* SPDX-License-Identifier: BSD-3-Clause */
/* HANDLE-SIGNALS: a handler that runs before the program's own records in the raw file which signal came. The kernel
 * does not always tell the sampler process. Then the handler that was installed before runs, or the default action
 * is taken. */
#include "config.h"
#include "collector-plugin/run/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/text.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/writer.h"

enum { SIGNALS = 65, STACK_BYTES = 64 << 10 };

static struct sigaction before[SIGNALS];
static struct vt_raw_head *head; /* of the process that installed the handlers */
static pid_t owner;

static void note_signal(int n, siginfo_t *info, void *context)
{
	sigset_t only;

	(void)info;
	(void)context;
	if (getpid() == owner) {
		atomic_store(&head->ending, VT_RAW_ENDED_SIGNAL + (uint32_t)n);
	}
	/* the former handler, or the end; a fault happens again by itself */
	sigaction(n, &before[n], NULL);
	sigemptyset(&only);
	sigaddset(&only, n);
	raise(n);
	pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}

static void install(int n, int on_stack)
{
	struct sigaction a, is;

	memset(&a, 0, sizeof(a));
	a.sa_sigaction = note_signal;
	a.sa_flags = SA_SIGINFO | SA_RESTART | (on_stack ? SA_ONSTACK : 0);
	/* an ignored signal ends nothing; if the run begins anew, the handler is ours already */
	if (sigaction(n, NULL, &is) == 0 && is.sa_handler != SIG_IGN && is.sa_sigaction != note_signal) {
		sigaction(n, &a, &before[n]);
	}
}

/* Installs the handler for signals that end a program, and that are meant to do so. */
static void install_default(int on_stack)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTERM, SIGXCPU,
		SIGXFSZ, SIGSYS };
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		install(ends[i], on_stack);
	}
}

static void install_given(const char *text, int on_stack)
{
	struct tkm_triplet t;
	long long n;
	size_t k;

	for (; *text; text += k + (text[k] == ',')) {
		k = strcspn(text, ",");
		if (tkm_parse_triplet(text, k, &t) < 0 || t.first < 1) {
			return; /* the settings leave such a text out */
		}
		for (n = t.first; n <= t.last && n < SIGNALS; n += t.step) {
			if (n != SIGKILL && n != SIGSTOP) {
				install((int)n, on_stack);
			}
		}
	}
}

void vt_signals_start(struct vt_collector *c)
{
	const char *text = c->settings.handle_signals;
	stack_t own = { .ss_size = STACK_BYTES };

	if ((!text && !vt_hooks.failsafe) || (text && !strcasecmp(text, "none"))) {
		return;
	}
	if (c->settings.altstack) {
		own.ss_sp = vt_pages(STACK_BYTES);
		if (!own.ss_sp || sigaltstack(&own, NULL) < 0) {
			vt_say(1, "WARNING", "ALTSTACK: no stack for signal handlers");
		}
	}
	head = vt_raw_head(c->pub.raw);
	owner = getpid();
	if (text) {
		install_given(text, c->settings.altstack);
	} else {
		install_default(c->settings.altstack);
	}
}
