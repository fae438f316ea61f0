/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows its own call tree: each thread walks through random states by VT_enter(), VT_begin(), VT_enterstate() and the
 * old numbers, prints what it did, and the trace must say the same. argv: threads, states of each, seed. With a fourth
 * argument it does everything wrong that can be done wrong in between. */
#include <VT.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUNCTIONS = 5, DEEPEST = 40 };

static int handle[FUNCTIONS], cls, scl, steps, wrong;
static unsigned seed;
/* clang-format off */
static const char *const name[FUNCTIONS] = { "outer:alpha", "outer:inner:beta", "Application:gamma", "old:delta", "state:deep:epsilon" };
/* clang-format on */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void want(int rc, int expected, const char *what)
{
	if (rc != expected) {
		printf("# %s: %d, want %d\n", what, rc, expected);
		exit(1);
	}
}

static void define(void)
{
	want(VT_classdef("::outer:", &cls), VT_OK, "classdef");
	want(VT_funcdef("alpha", cls, &handle[0]), VT_OK, "alpha");
	want(VT_funcdef("inner:beta", cls, &handle[1]), VT_OK, "beta");
	want(VT_funcdef("gamma", VT_NOCLASS, &handle[2]), VT_OK, "gamma");
	handle[3] = 77;
	want(VT_symdef(77, "delta", "old"), VT_OK, "symdef");
	want(VT_symdef(77, "delta", "old"), VT_OK, "symdef again");
	want(VT_symdef(77, "other", "old"), VT_ERR_BADARG, "symdef of another");
	want(VT_scldef("regions.c", 42, &scl), VT_OK, "scldef");
}

static void do_wrong(int depth, const char *kinds)
{
	want(VT_enter(4711, VT_NOSCL), VT_ERR_BADSYMBOLID, "enter of nothing");
	want(VT_begin(handle[0] + 1000), VT_ERR_BADSYMBOLID, "begin of nothing");
	want(VT_enter(handle[0], 12345), VT_ERR_BADSCLID, "enter at nowhere");
	want(VT_funcdef(NULL, cls, NULL), VT_ERR_BADARG, "funcdef without a name");
	want(VT_funcdef("f", 99999, NULL), VT_ERR_BADARG, "funcdef in no class");
	want(VT_thisloc(54321), VT_ERR_BADSCLID, "thisloc of nowhere");
	if (depth == 0 || kinds[depth - 1] == 'e') {
		want(VT_end(0), VT_ERR_BADREQUEST, "end without begin");
	}
	if (depth == 0 || kinds[depth - 1] == 'b') {
		want(VT_leave(VT_NOSCL), VT_ERR_BADREQUEST, "leave without enter");
	}
}

static void go_in(int f, int way, char *kind)
{
	*kind = way == 0 ? 'b' : 'e';
	if (f == 4) {
		*kind = 'e';
		want(VT_enterstate("state:deep:epsilon", &handle[4], NULL), VT_OK, "enterstate");
	} else if (way == 0) {
		want(VT_beginl(handle[f], scl), VT_OK, "beginl");
	} else {
		want(VT_enter(handle[f], VT_NOSCL), VT_OK, "enter");
	}
}

static void *walk(void *arg)
{
	unsigned s = seed + (unsigned)(size_t)arg * 7919u;
	char kind[DEEPEST], *text = (char *)malloc((size_t)steps * 40 + DEEPEST * 40), *to = text;
	int depth = 0, i, f, thread;

	want(VT_getthrank(&thread), VT_OK, "getthrank");
	for (i = 0; i < steps || depth; i++) {
		s = s * 1103515245 + 12345;
		f = (int)(s >> 16 & 0x7fff);
		if (wrong && f % 7 == 0) {
			do_wrong(depth, kind);
		}
		if (i < steps && depth < DEEPEST && (depth == 0 || f % 9 < 5)) {
			f = f / 9 % FUNCTIONS;
			go_in(f, (int)(s >> 20 & 1), &kind[depth++]);
			to += sprintf(to, "%d + %s\n", thread, name[f]);
		} else if (depth) {
			depth--;
			want(kind[depth] == 'b' ? VT_end(0) : VT_leave(VT_NOSCL), VT_OK, "leave");
			to += sprintf(to, "%d -\n", thread);
		}
	}
	pthread_mutex_lock(&lock);
	fputs(text, stdout);
	pthread_mutex_unlock(&lock);
	free(text);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = atoi(argv[1]), i;
	pthread_t t[64];

	steps = atoi(argv[2]);
	seed = (unsigned)atoi(argv[3]);
	wrong = argc > 4;
	want(VT_initialize(&argc, &argv), VT_OK, "initialize");
	define();
	for (i = 1; i < threads; i++) {
		pthread_create(&t[i], NULL, walk, (void *)(size_t)i);
	}
	walk(NULL);
	for (i = 1; i < threads; i++) {
		pthread_join(t[i], NULL);
	}
	want(VT_finalize(), VT_OK, "finalize");
	return 0;
}
