/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows a table in the terminal: a row for each counter, a column for each node, rank and thread. */
#include "config.h"
#include "live/live.h"

#ifdef HAVE_NCURSES
#include <curses.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "report/html/html.h"

enum { NAME_WIDTH = 24, CELL_WIDTH = 16, MOST_TEXT = 400 };

static volatile sig_atomic_t stopped;

static void stop_screen(int sig)
{
	(void)sig;
	stopped = 1;
}

/* Prints text at column x of a line, at most `width` columns; `right`: so that it ends at x + width. */
static void print_at(int y, int x, int width, int right, const char *text)
{
	char buf[MOST_TEXT];
	int columns = vtr_cut(buf, sizeof(buf), text, width);

	mvaddstr(y, right ? x + width - columns : x, buf);
}

static const struct vtr_live_cell *find_cell(const struct vtr_live_job *j, size_t row, size_t column)
{
	size_t i;

	for (i = 0; i < j->cells; i++) {
		if (j->cell[i].row == row && j->cell[i].column == column) {
			return &j->cell[i];
		}
	}
	return NULL;
}

static void draw_screen(const struct vtr_live_job *j, size_t top, size_t left, int paused)
{
	char text[MOST_TEXT], program[MOST_TEXT / 2];
	int width = COLS, lines = LINES, y, x;
	size_t r, c;

	erase();
	vtr_cut(program, sizeof(program), j->program, 60);
	snprintf(text, sizeof(text), "%s, %.1f s, %d of %zu process%s run%s%s", program, j->run_s, j->running, j->files,
		j->files == 1 ? "" : "es", j->lost ? ", RECORDS ARE LOST" : "", paused ? ", display paused" : "");
	print_at(0, 0, width, 0, text);
	attron(A_REVERSE);
	mvprintw(1, 0, "%-*s", width, "");
	mvaddstr(1, 0, "counter");
	for (c = left, x = NAME_WIDTH; c < j->columns && x + CELL_WIDTH <= width; c++, x += CELL_WIDTH) {
		print_at(1, x + 1, CELL_WIDTH - 1, 1, j->column[c].text);
	}
	attroff(A_REVERSE);
	for (r = top, y = 2; r < j->rows && y < lines - 1; r++, y++) {
		print_at(y, 0, NAME_WIDTH - 1, 0, j->row[r].text);
		for (c = left, x = NAME_WIDTH; c < j->columns && x + CELL_WIDTH <= width; c++, x += CELL_WIDTH) {
			const struct vtr_live_cell *cell = find_cell(j, r, c);
			double v = cell ? vtr_live_value(cell) : NAN;

			if (isfinite(v)) {
				vtr_value(text, sizeof(text), v, j->row[r].unit);
				print_at(y, x + 1, CELL_WIDTH - 1, 1, text);
			}
		}
	}
	print_at(lines - 1, 0, width, 0, "q quit   p pause   arrows scroll");
	refresh();
}

static void scroll_by(size_t *at, int by, size_t most)
{
	if (by < 0) {
		*at -= *at > 0;
	} else if (*at + 1 < most) {
		++*at;
	}
}

/* Waits until the next look or a key. Returns 1: the user quits. */
static int wait_for_key(const struct vtr_live_job *j, double seconds, size_t *top, size_t *left, int *paused)
{
	timeout((int)(seconds * 1000));
	switch (getch()) {
	case 'q':
		return 1;
	case 'p':
		*paused = !*paused;
		break;
	case KEY_UP:
		scroll_by(top, -1, j->rows);
		break;
	case KEY_DOWN:
		scroll_by(top, 1, j->rows);
		break;
	case KEY_LEFT:
		scroll_by(left, -1, j->columns);
		break;
	case KEY_RIGHT:
		scroll_by(left, 1, j->columns);
		break;
	default:
		break;
	}
	return stopped;
}

static double screen_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int vtr_live_screen(struct vtr_live_job *j, const char *only, double period_s, struct tkm_err *err)
{
	struct sigaction a = { .sa_handler = stop_screen };
	size_t top = 0, left = 0;
	double due = screen_now_s();
	int rc = 0, paused = 0;

	setlocale(LC_CTYPE, "");
	if (!newterm(NULL, stdout, stdin)) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "this terminal is unknown (TERM); --plain prints lines instead");
	}
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	while (rc == 0) {
		if (!paused && screen_now_s() >= due) {
			if (vtr_live_read(j, only, err) < 0) {
				rc = -1;
				break;
			}
			due = screen_now_s() + period_s;
			if (!j->running) {
				break;
			}
		}
		draw_screen(j, top, left, paused);
		rc = wait_for_key(j, paused ? 0.5 : fmax(due - screen_now_s(), 0.01), &top, &left, &paused);
	}
	endwin();
	return rc;
}
#else
int vtr_live_screen(struct vtr_live_job *j, const char *only, double period_s, struct tkm_err *err)
{
	(void)j;
	(void)only;
	(void)period_s;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "this build has no ncurses; --plain prints lines instead");
}
#endif
