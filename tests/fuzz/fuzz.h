/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fuzz targets share. A target defines LLVMFuzzerTestOneInput() and FUZZ_NAME, and includes this at its end.
 * clang -DFUZZING -fsanitize=fuzzer searches with it (tests/fuzz/search.sh); built plainly it is a test that runs the
 * inputs in tests/fuzz/corpus/FUZZ_NAME, as they are and damaged from a fixed seed. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef FUZZING
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DAMAGES = 100, CUT_UP_TO = 1500, SECONDS_AN_INPUT = 120 };
static uint64_t fuzz_state = 20261121;

/* splitmix64 */
static uint64_t fuzz_draw(void)
{
	uint64_t z = (fuzz_state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Says with which input the program dies, then lets it die as it would have. */
static const int fuzz_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM };
static void (*fuzz_before[5])(int);
static char fuzz_name[300];

static void fuzz_dies(int sig)
{
	unsigned i;

	for (i = 0; i < 5; i++) {
		if (fuzz_signals[i] == sig && write(STDOUT_FILENO, fuzz_name, strlen(fuzz_name)) >= 0) {
			signal(sig, fuzz_before[i]);
			raise(sig);
		}
	}
}

/* The input in memory of its very size, so that a sanitizer sees what is read after it. */
static void fuzz_run(const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n + (n == 0));

	if (!copy) {
		abort();
	}
	memcpy(copy, p, n);
	alarm(SECONDS_AN_INPUT);
	LLVMFuzzerTestOneInput(copy, n);
	alarm(0);
	free(copy);
}

static void fuzz_damage(uint8_t *p, size_t n, uint8_t *scratch)
{
	size_t size, k;
	int i;

	for (i = 0; i < DAMAGES; i++) {
		memcpy(scratch, p, n);
		size = fuzz_draw() % 4 || !n ? n : fuzz_draw() % n;
		for (k = fuzz_draw() % 5; k > 0 && size; k--) {
			scratch[fuzz_draw() % size] = fuzz_draw() % 3 ? (uint8_t)fuzz_draw()
				: fuzz_draw() % 2                     ? 0xff
								      : '0';
		}
		fuzz_run(scratch, size);
	}
}

static int fuzz_file(const char *path)
{
	static uint8_t buf[1 << 16], scratch[1 << 16];
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f) {
		printf("# cannot read %s\n", path);
		return -1;
	}
	n = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	snprintf(fuzz_name, sizeof(fuzz_name), "# dies with %.255s or damages of it\n", strrchr(path, '/') + 1);
	fuzz_run(buf, n);
	fuzz_damage(buf, n, scratch);
	for (; n > 0 && n <= CUT_UP_TO; n--) {
		fuzz_run(buf, n - 1); /* and cut at every byte */
	}
	return 0;
}

int main(void)
{
	const char *top = getenv("top_srcdir");
	struct rlimit memory = { 1u << 30, 1u << 30 };
	char path[1000];
	struct dirent *e;
	int n = 0, bad = 0, i;
	DIR *d;

#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_AS, &memory);
#else
	(void)memory;
#endif
	for (i = 0; i < 5; i++) {
		fuzz_before[i] = signal(fuzz_signals[i], fuzz_dies);
	}
	snprintf(path, sizeof(path), "%.500s/tests/fuzz/corpus/%s", top ? top : ".", FUZZ_NAME);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%.500s/tests/fuzz/corpus/%s/%.255s", top ? top : ".", FUZZ_NAME,
				e->d_name);
			bad |= fuzz_file(path);
			n++;
		}
	}
	if (d) {
		closedir(d);
	}
	printf("%sok 1 - %s survives %d stored inputs, each also damaged %d times and cut\n1..1\n",
		n && !bad ? "" : "not ", FUZZ_NAME, n, DAMAGES);
	return n && !bad ? 0 : 1;
}
#endif

#endif
