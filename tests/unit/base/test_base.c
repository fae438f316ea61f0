/* SPDX-License-Identifier: BSD-3-Clause */
/* Small parts of base/: text to numbers, quoting, bytes, statistics, errors, options, files. */
#include "config.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/newfile.h"
#include "base/cli/option.h"
#include "base/rootfs.h"
#include "base/stats.h"
#include "base/text/text.h"
#include "base/ticks.h"
#include "tests/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/text/quote.h"

static void times_print_as_in_the_guide(void)
{
	char b[32];

	CHECK_STR(tkm_print_time(b, sizeof(b), 374.738e-9, 3), "374.738ns");
	CHECK_STR(tkm_print_time(b, sizeof(b), 2.152e-6, 3), "2.152us");
	CHECK_STR(tkm_print_time(b, sizeof(b), 800.011e-3, 3), "800.011ms");
	CHECK_STR(tkm_print_time(b, sizeof(b), -1.031e-6, 3), "-1.031us");
	CHECK_STR(tkm_print_time(b, sizeof(b), 0, 2), "0.00s");
	CHECK_STR(tkm_print_time(b, sizeof(b), -1e-16, 3), "0.000ps");
	CHECK_STR(tkm_print_time(b, sizeof(b), 1001e-6, 2), "1.00ms");
	CHECK_STR(tkm_print_time(b, sizeof(b), 0.418e-9, 3), "418.000ps");
	CHECK_STR(tkm_print_time(b, sizeof(b), 0.9999999e-6, 3), "1.000us");
	CHECK_STR(tkm_print_time(b, sizeof(b), NAN, 3), "unknown");
	CHECK_STR(tkm_print_mhz(b, sizeof(b), 2392.218e6), "2392.218MHz");
}

static void times_read_as_in_the_guide(void)
{
	static const struct {
		const char *text;
		double want;
		/* clang-format off */
	} good[] = {
		{ "1m+30s", 90 }, { "2s", 2 }, { "5", 5 }, { "10c", 10e-6 }, { "10l", 10e-3 },
		{ "1ms", 1e-3 }, { "1.5h", 5400 }, { "1w", 604800 }, { "1d+1h", 90000 }, { "7.3ns", 7.3e-9 },
		{ "-1", -1 }, { ".5s", 0.5 }, { "10US", 10e-6 }, { "1min", 60 }, { "1e-3s", 1e-3 },
	};
	/* clang-format on */
	static const char *const bad[] = { "", "s", "1x", "1s+", "+1s", "1s+-2s", "nan", "inf", "0x10", " 1", "1 ",
		"1s 2s", "--1", "1e999", "1s+1m+" };
	size_t i;
	double v;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		v = -7;
		CHECK(tkm_parse_time(good[i].text, &v) == 0, "%s refused", good[i].text);
		CHECK_NEAR(v, good[i].want, 1e-12 * fabs(good[i].want));
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(tkm_parse_time(bad[i], &v) < 0, "\"%s\" taken", bad[i]);
	}
}

static void small_values_are_read(void)
{
	double f;
	long long n;
	int b;

	CHECK(tkm_parse_fraction("50ppm", &f) == 0 && fabs(f - 50e-6) < 1e-18, "%g", f);
	CHECK(tkm_parse_fraction("-3ppb", &f) == 0 && fabs(f + 3e-9) < 1e-21, "%g", f);
	CHECK(tkm_parse_fraction("0.1%", &f) == 0 && fabs(f - 1e-3) < 1e-15, "%g", f);
	CHECK(tkm_parse_fraction("1ppm ", &f) < 0, "trailing space taken");
	CHECK(tkm_parse_int("100", 0, 1000, &n) == 0 && n == 100, "%lld", n);
	CHECK(tkm_parse_int("1001", 0, 1000, &n) < 0, "too large");
	CHECK(tkm_parse_int("99999999999999999999", 0, INT64_MAX, &n) < 0, "overflow");
	CHECK(tkm_parse_int("", 0, 9, &n) < 0 && tkm_parse_int("1a", 0, 9, &n) < 0, "no number");
	CHECK(tkm_parse_bool("ON", &b) == 0 && b == 1, "ON");
	CHECK(tkm_parse_bool("", &b) == 0 && b == 1, "the option's name alone is on");
	CHECK(tkm_parse_bool("False", &b) == 0 && b == 0, "False");
	CHECK(tkm_parse_bool("yes", &b) < 0, "yes is not in the guide");
}

static void gnuplot_quoting_keeps_the_text(void)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	tkm_quote_gnuplot(f, "it's \"b\" `reboot` \\ n\xc3\xb6\n");
	fclose(f);
	CHECK_STR(out, "'it''s \"b\" `reboot` \\ n\xc3\xb6 '");
	free(out);
}

static void a_shell_word_is_one_word(void)
{
	char buf[40];

	CHECK_STR(tkm_shell_word(buf, sizeof(buf), "a/b-1.stf"), "a/b-1.stf");
	CHECK_STR(tkm_shell_word(buf, sizeof(buf), "my run's $x.stf"), "'my run'\\''s $x.stf'");
	CHECK_STR(tkm_shell_word(buf, sizeof(buf),
			  "a\33[\n\xc2\x9b"
			  "1"),
		"'a'?'['?''*'1'");
	CHECK_STR(tkm_shell_word(buf, sizeof(buf), ""), "''");
	CHECK_STR(tkm_shell_word(buf, sizeof(buf), "n\xc3\xb6"), "'n\xc3\xb6'");
	CHECK_STR(tkm_shell_word(buf, 16, "it's far too long for it"), "'it'\\''s f'");
}

static void bytes_are_endian_safe(void)
{
	unsigned char b[9];

	tkm_put32(b + 1, 0x01020304u, 1);
	CHECK(b[1] == 1 && b[4] == 4, "big-endian 32");
	CHECK(tkm_get32(b + 1, 1) == 0x01020304u && tkm_get32(b + 1, 0) == 0x04030201u, "get 32");
	tkm_put64(b + 1, 0x0102030405060708u, 0);
	CHECK(b[1] == 8 && b[8] == 1, "little-endian 64");
	CHECK(tkm_get64(b + 1, 1) == 0x0807060504030201u, "get 64");
	tkm_put16(b + 1, 0x0102, 1);
	CHECK(b[1] == 1 && tkm_get16(b + 1, 0) == 0x0201, "16");
}

static void quantiles_and_spread(void)
{
	double v[] = { 5, 1, 4, 2, 3 };
	struct tkm_spread s = tkm_spread(v, 5);
	int64_t w[] = { 3, -1, 2 };

	CHECK_NEAR(s.median, 3, 0);
	CHECK_NEAR(s.min, 1, 0);
	CHECK_NEAR(s.max, 5, 0);
	CHECK_NEAR(tkm_quantile(v, 5, 0.25), 2, 0);
	CHECK_NEAR(tkm_quantile(v, 5, 1), 5, 0);
	tkm_sort_i64(w, 3);
	CHECK(w[0] == -1 && w[2] == 3, "sorted");
}

static void robust_line_ignores_outliers(void)
{
	enum { N = 400 };
	double x[N], y[N], slope = 1 + 37e-6;
	struct tkm_line l, plain;
	int i, round;

	for (round = 0; round < 50; round++) {
		for (i = 0; i < N; i++) {
			x[i] = i * 1e6;
			y[i] = 12345 + slope * x[i] + 10 * (check_uniform() - 0.5);
			if (i % 7 == 0) {
				y[i] += 8e6 * check_uniform(); /* preempted in the middle of a read */
			}
		}
		CHECK(tkm_line_robust(x, y, N, NULL, &l) == 0, "fit");
		CHECK(tkm_line_fit(x, y, NULL, N, &plain) == 0, "fit");
		CHECK_NEAR(l.slope, slope, 5 * l.slope_se);
		CHECK(l.slope_se < 5e-9, "standard error %g", l.slope_se);
		CHECK(fabs(plain.slope - slope) > 1e-7, "least squares would have done: no test");
	}
	CHECK(tkm_line_fit(x, y, NULL, 1, &l) < 0, "one point is no line");
	x[1] = x[0];
	CHECK(tkm_line_fit(x, y, NULL, 2, &l) < 0, "a vertical line is none");
}

static void root_reads_stay_below_the_root(void)
{
	char dir[] = "/tmp/tkm-root-XXXXXX", path[64], b[16];
	int fd, root;

	CHECK(mkdtemp(dir) != NULL, "mkdtemp");
	snprintf(path, sizeof(path), "%s/name", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(write(fd, "value \nsecond line that is long\n", 32) > 0, "write");
	close(fd);
	root = tkm_root_open(dir);
	CHECK(root >= 0, "root");
	CHECK_STR(tkm_root_line(root, "/name", b, sizeof(b)), "value");
	memset(b, 'x', sizeof(b));
	CHECK_INT(tkm_root_read(root, "name", b, sizeof(b)), sizeof(b) - 1);
	CHECK_STR(b, "value \nsecond l");
	CHECK_STR(tkm_root_line(root, "/none", b, sizeof(b)), "");
	CHECK(tkm_root_openat(root, "/../etc/passwd") < 0 && errno == EINVAL, "left the root");
	CHECK(tkm_root_openat(root, "a/..") < 0 && errno == EINVAL, "left the root");
	close(root);
	unlink(path);
	rmdir(dir);
}

static void names_in_errors_command_no_terminal(void)
{
	struct tkm_err e;
	char text[] = "a\n\33[1m\x7f \xc2\x9b n\xc3\xb6 \xc2\xb5\xc2";

	CHECK_STR(tkm_plain(text), "a??[1m? ?? n\xc3\xb6 \xc2\xb5\xc2");
	tkm_fail(&e, TKM_ERR_IO, "%s", "x\33y");
	CHECK_STR(e.text, "x?y");
	tkm_fail_errno(&e, TKM_ERR_IO, ENOENT, "%s", "x\33y");
	CHECK(!strncmp(e.text, "x?y: ", 5), "%s", e.text);
}

static void errors_name_the_cause(void)
{
	struct tkm_err e = { 0 };
	char big[2000];

	CHECK_INT(tkm_fail_errno(&e, TKM_ERR_IO, ENOSPC, "write %s", "x.stf"), -1);
	CHECK_STR(e.text, "write x.stf: No space left on device");
	CHECK_INT(e.code, TKM_ERR_IO);
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	tkm_fail_errno(&e, TKM_ERR_IO, ENOSPC, "%s", big);
	CHECK_INT(strlen(e.text), sizeof(e.text) - 1);
	CHECK_INT(tkm_fail(NULL, TKM_ERR_ARG, "%s", "nobody listens"), -1);
}

static void options_come_from_the_environment(void)
{
	const char *text = "default";
	long long count = 5;
	double seconds = 1, share = 0;
	int on = -1;
	/* clang-format off */
	const struct tkm_option table[] = {
		{ "SOME-TEXT", TKM_OPTION_TEXT, &text, 0, 0, "T", "" },
		{ "SOME-COUNT", TKM_OPTION_COUNT, &count, 1, 10, "N", "" },
		{ "SOME-TIME", TKM_OPTION_TIME, &seconds, 0, 60, "TIME", "" },
		{ "SOME-SHARE", TKM_OPTION_FRACTION, &share, 0, 1, "F", "" },
		{ "SOME-SWITCH", TKM_OPTION_BOOL, &on, 0, 0, "on|off", "" },
		{ .name = NULL },
	};
	/* clang-format on */
	struct tkm_err e;
	char b[40], small[4];

	CHECK_STR(tkm_option_variable(&table[1], b, sizeof(b)), "VT_SOME_COUNT");
	CHECK_STR(tkm_option_long(&table[1], b, sizeof(b)), "some-count");
	CHECK_STR(tkm_option_long(&table[1], small, sizeof(small)), "som");
	CHECK(tkm_option_environment(table, &e) == 0, "%s", e.text);
	CHECK(!strcmp(text, "default") && count == 5 && on == -1, "defaults changed");
	setenv("VT_SOME_TEXT", "a b", 1);
	setenv("VT_SOME_COUNT", "10", 1);
	setenv("VT_SOME_TIME", "1m", 1);
	setenv("VT_SOME_SHARE", "50ppm", 1);
	setenv("VT_SOME_SWITCH", "off", 1);
	CHECK(tkm_option_environment(table, &e) == 0, "%s", e.text);
	CHECK(!strcmp(text, "a b") && count == 10 && seconds == 60 && fabs(share - 5e-5) < 1e-12 && on == 0,
		"not taken");
	setenv("VT_SOME_TIME", "61s", 1);
	CHECK(tkm_option_environment(table, &e) < 0, "taken");
	CHECK_STR(e.text, "VT_SOME_TIME: '61s' is not a time like 2s, 1m+30s or 10ms between 0 s and 60 s");
	CHECK(seconds == 60, "a refused value was stored");
	CHECK(tkm_option_set(&table[4], "maybe", "--some-switch", &e) < 0, "taken");
	CHECK_STR(e.text, "--some-switch: 'maybe' is not on or off");
}

static int exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Number of entries of a folder besides . and .. */
static int entries(const char *dir)
{
	char cmd[128];
	int n = -1;
	FILE *p;

	snprintf(cmd, sizeof(cmd), "ls -A %s | wc -l", dir);
	p = popen(cmd, "r");
	CHECK(p && fscanf(p, "%d", &n) == 1, "popen");
	pclose(p);
	return n;
}

static void files_appear_whole_or_not_at_all(void)
{
	char dir[] = "/tmp/tkm-new-XXXXXX", path[64], b[16] = "";
	struct tkm_newfile n;
	struct tkm_err e;
	struct stat st;
	int root;

	CHECK(mkdtemp(dir) != NULL, "mkdtemp");
	snprintf(path, sizeof(path), "%s/a b", dir);
	CHECK(tkm_newfile_begin(&n, path, 0, &e) == 0, "%s", e.text);
	fputs("one\n", n.f);
	CHECK(!exists(path), "there before it is complete");
	CHECK(tkm_newfile_commit(&n, &e) == 0, "%s", e.text);
	CHECK(exists(path) && entries(dir) == 1, "not there, or more than that");
	CHECK(tkm_newfile_begin(&n, path, 0, &e) < 0 && e.code == TKM_ERR_EXISTS && strstr(e.text, path), "%s", e.text);
	CHECK(tkm_newfile_begin(&n, path, 1, &e) == 0, "%s", e.text);
	fputs("two\n", n.f);
	tkm_newfile_abort(&n);
	CHECK_INT(entries(dir), 1);
	/* somebody else makes it between begin and commit */
	unlink(path);
	CHECK(tkm_newfile_begin(&n, path, 0, &e) == 0, "%s", e.text);
	fputs("mine\n", n.f);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	CHECK(tkm_newfile_commit(&n, &e) < 0 && e.code == TKM_ERR_EXISTS, "replaced without being told to");
	CHECK_INT(entries(dir), 1);
	CHECK(tkm_newfile_begin(&n, path, 1, &e) == 0, "%s", e.text);
	fputs("new\n", n.f);
	CHECK(tkm_newfile_commit(&n, &e) == 0, "%s", e.text);
	/* a device is written to, and stays; a folder is refused */
	CHECK(tkm_newfile_begin(&n, "/dev/full", 1, &e) == 0, "%s", e.text);
	fputs("text\n", n.f);
	CHECK(tkm_newfile_commit(&n, &e) < 0 && strstr(e.text, "/dev/full"), "a full device took a text");
	CHECK(tkm_newfile_begin(&n, "/dev/null", 0, &e) == 0, "%s", e.text);
	fputs("text\n", n.f);
	CHECK(tkm_newfile_commit(&n, &e) == 0, "%s", e.text);
	CHECK(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode), "the device was replaced");
	CHECK(tkm_newfile_begin(&n, dir, 1, &e) < 0 && strstr(e.text, "no regular file"), "a folder was begun");
	root = tkm_root_open(dir);
	CHECK_STR(tkm_root_line(root, "a b", b, sizeof(b)), "new");
	close(root);
	CHECK(tkm_newfile_begin(&n, "/nowhere/x", 0, &e) < 0 && e.code == TKM_ERR_IO, "%s", e.text);
	tkm_newfile_abort(&n); /* nothing to do, no harm */
	unlink(path);
	rmdir(dir);
}

static void ticks_subtract(void)
{
	CHECK_INT(ltick_sub(ltick(INT64_MAX), ltick(INT64_MAX - 5)), 5);
	CHECK_INT(gtick_sub(gtick_add(gtick(7), -9), gtick(7)), -9);
}

/* The terminal of a process that has none is a device that cannot be opened: an error, and nothing of it stays. */
static void a_device_that_cannot_be_opened(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct tkm_newfile n;
		struct tkm_err e = { TKM_OK, "" };

		_exit(setsid() > 0 && tkm_newfile_begin(&n, "/dev/tty", 1, &e) < 0 &&
					strstr(e.text, "cannot write /dev/tty")
				? 0
				: 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "%d", status);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(times_print_as_in_the_guide);
	RUN(times_read_as_in_the_guide);
	RUN(small_values_are_read);
	RUN(gnuplot_quoting_keeps_the_text);
	RUN(a_shell_word_is_one_word);
	RUN(bytes_are_endian_safe);
	RUN(quantiles_and_spread);
	RUN(robust_line_ignores_outliers);
	RUN(root_reads_stay_below_the_root);
	RUN(names_in_errors_command_no_terminal);
	RUN(errors_name_the_cause);
	RUN(options_come_from_the_environment);
	RUN(files_appear_whole_or_not_at_all);
	RUN(ticks_subtract);
	RUN(a_device_that_cannot_be_opened);
	return check_end();
}
