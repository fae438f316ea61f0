/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "base/text/ends.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text/text.h"

char *tkm_ends_read(const char *trace)
{
	char path[PATH_MAX], *line = NULL, *all = NULL, *longer;
	size_t n = strlen(trace), room = 0, used = 0;
	ssize_t length;
	FILE *f;

	n = n > 4 && !strcmp(trace + n - 4, ".stf") ? n - 4 : n;
	if (snprintf(path, sizeof(path), "%.*s.prot", (int)n, trace) >= (int)sizeof(path) ||
		!(f = tkm_open_text(path, O_RDONLY))) {
		return NULL;
	}
	while ((length = getline(&line, &room, f)) > 0) {
		if (!strncmp(line, TKM_ENDS_LINE, strlen(TKM_ENDS_LINE)) &&
			(longer = realloc(all, used + (size_t)length + 1))) {
			all = longer;
			memcpy(all + used, line, (size_t)length + 1);
			used += (size_t)length;
		}
	}
	free(line);
	fclose(f);
	return all;
}

/* Is the process in a list of numbers and ranges, like " 0 2-5:"? *end: what follows the list. */
static int lists_process(const char *list, long process, const char **end)
{
	int found = 0;

	while (*list == ' ') {
		char *next;
		long first, last;

		/* strtol() skips white space, also the end of the line */
		if (list[1] < '0' || list[1] > '9') {
			break;
		}
		first = last = strtol(list + 1, &next, 10);
		if (*next == '-') {
			if (next[1] < '0' || next[1] > '9') {
				break;
			}
			last = strtol(next + 1, &next, 10);
		}
		found |= first <= process && process <= last;
		list = next;
	}
	*end = list;
	return found;
}

const char *tkm_ends_complete(const char *lines, const char *info, char *to, size_t size)
{
	const char *end;
	long process;
	int whole = 0;

	if (sscanf(info, "process %ld: in MPI_Finalize%n", &process, &whole) != 1 || !whole || info[whole]) {
		return info;
	}
	for (; lines && *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n') {
		const char *list = lines + strcspn(lines, "0123456789\n");

		if (list > lines && list[-1] == ' ' && lists_process(list - 1, process, &end) &&
			!strncmp(end, ": ", 2)) {
			snprintf(to, size, "%s, %.*s", info, (int)strcspn(end + 2, "\n"), end + 2);
			return tkm_plain(to);
		}
	}
	return info;
}
