/* SPDX-License-Identifier: BSD-3-Clause */
/* A SPANK plug-in for Slurm: jobs get the timer that the last result of timertest on their node calls fit.
 *
 *   cc -shared -fPIC -o spank_tickmark.so spank_tickmark.c
 *   plugstack.conf:  optional /usr/lib/slurm/spank_tickmark.so timertest=/usr/bin/timertestcs state=/var/lib/tickmark
 *
 * srun --tickmark-timer=NAME sets another one, --tickmark-timer=off none. VT_TIMER in the user's environment is left alone. */
#define _GNU_SOURCE
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

SPANK_PLUGIN(tickmark, 1)

static char timer[256];
static const char *program = "/usr/bin/timertestcs", *state = "/var/lib/tickmark";

static int take_timer(int value, const char *text, int remote)
{
	(void)value;
	(void)remote;
	if (!text || !text[0] || strlen(text) >= sizeof(timer)) {
		slurm_error("--tickmark-timer: give the name of a timer, or off");
		return -1;
	}
	strcpy(timer, text);
	return 0;
}

static struct spank_option option = { .name = "tickmark-timer",
	.arginfo = "NAME",
	.usage = "timer for traces (VT_TIMER); default: the one that timertest calls fit on the node; off: none",
	.has_arg = 1,
	.val = 0,
	.cb = take_timer };

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "timertest=", 10)) {
			program = argv[i] + 10;
		} else if (!strncmp(argv[i], "state=", 6)) {
			state = argv[i] + 6;
		} else {
			slurm_error("spank_tickmark: '%s' is not timertest=FILE or state=DIR", argv[i]);
			return -1;
		}
	}
	return spank_option_register(spank, &option) == ESPANK_SUCCESS ? 0 : -1;
}

/* The first line that the program prints, without a shell. 0: there is none. */
static int first_line_of_program(char *line, int size)
{
	int fd[2], status, got = 0;
	pid_t child;
	FILE *f;

	if (pipe(fd) < 0) {
		return 0;
	}
	child = fork();
	if (child == 0) {
		dup2(fd[1], 1);
		close(fd[0]);
		close(fd[1]);
		execl(program, program, "--taskprolog", "--quiet", "--state-dir", state, (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	f = child > 0 ? fdopen(fd[0], "r") : NULL;
	if (f) {
		got = fgets(line, size, f) != NULL;
		fclose(f);
	} else {
		close(fd[0]);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && got;
}

/* In the task, as its user, before it starts. */
int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
	static const char key[] = "export VT_TIMER=";
	char line[600], have[300];

	(void)argc;
	(void)argv;
	if (!strcmp(timer, "off")) {
		return 0;
	}
	if (timer[0]) {
		spank_setenv(spank, "VT_TIMER", timer, 1);
	} else if (spank_getenv(spank, "VT_TIMER", have, sizeof(have)) != ESPANK_SUCCESS &&
		first_line_of_program(line, sizeof(line)) && !strncmp(line, key, sizeof(key) - 1)) {
		line[strcspn(line, "\n")] = '\0';
		spank_setenv(spank, "VT_TIMER", line + sizeof(key) - 1, 0);
	}
	return 0;
}
