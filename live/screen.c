/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows a table in the terminal: a row for each counter, a column for each node, rank and thread. */
#include "config.h"
#include "live/live.h"

#ifdef HAVE_NCURSES
#include <curses.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
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

struct view {
	size_t top, left;
	int paused, sorted;
	uint32_t *column; /* the columns in the order of the display */
};

static double cell_value(const struct vtr_live_job *j, size_t row, size_t column)
{
	const struct vtr_live_cell *cell = find_cell(j, row, column);

	return cell ? vtr_live_value(cell) : NAN;
}

/* By the values of the row on top, the largest first, else as they came. A column without a value is last. */
static void order_columns(const struct vtr_live_job *j, struct view *v)
{
	uint32_t *more = realloc(v->column, (j->columns + 1) * sizeof(*more)), one;
	size_t c, k, row = v->top < j->rows ? j->order[v->top] : 0;
	double value;

	if (!more) {
		v->sorted = 0;
		return;
	}
	v->column = more;
	for (c = 0; c < j->columns; c++) {
		one = (uint32_t)c;
		value = v->sorted && j->rows ? cell_value(j, row, c) : NAN;
		for (k = c; k > 0 && isfinite(value) && !(cell_value(j, row, v->column[k - 1]) >= value); k--) {
			v->column[k] = v->column[k - 1];
		}
		v->column[k] = one;
	}
}

static void draw_value(const struct vtr_live_job *j, size_t row, int y, int x, double v)
{
	char text[MOST_TEXT];

	if (isfinite(v)) {
		vtr_value(text, sizeof(text), v, j->row[row].unit);
		print_at(y, x + 1, CELL_WIDTH - 1, 1, text);
	}
}

static void draw_screen(const struct vtr_live_job *j, struct view *v)
{
	char text[MOST_TEXT], program[MOST_TEXT / 2];
	/* the sum of all processes has the first column, if there are several */
	int width = COLS, lines = LINES, y, x, first = NAME_WIDTH + (j->files > 1 ? CELL_WIDTH : 0);
	int foot = *vtr_live_hint(j, text, sizeof(text)) ? 2 : 1;
	size_t r, c;

	order_columns(j, v);
	erase();
	vtr_cut(program, sizeof(program), j->program, 60);
	snprintf(text, sizeof(text), "%s, %.1f s, %d of %zu process%s run%s%s", program, j->run_s, j->running, j->files,
		j->files == 1 ? "" : "es", j->lost ? ", RECORDS ARE LOST" : "", v->paused ? ", display paused" : "");
	print_at(0, 0, width, 0, text);
	attron(A_REVERSE);
	mvprintw(1, 0, "%-*s", width, "");
	mvaddstr(1, 0, "counter");
	if (first > NAME_WIDTH) {
		print_at(1, NAME_WIDTH + 1, CELL_WIDTH - 1, 1, "all");
	}
	for (c = v->left, x = first; v->column && c < j->columns && x + CELL_WIDTH <= width; c++, x += CELL_WIDTH) {
		print_at(1, x + 1, CELL_WIDTH - 1, 1, j->column[v->column[c]].text);
	}
	attroff(A_REVERSE);
	for (r = v->top, y = 2; r < j->rows && y < lines - foot; r++, y++) {
		size_t row = j->order[r];

		print_at(y, 0, NAME_WIDTH - 1, 0, j->row[row].text);
		if (first > NAME_WIDTH) {
			draw_value(j, row, y, NAME_WIDTH, vtr_live_total(j, row));
		}
		for (c = v->left, x = first; v->column && c < j->columns && x + CELL_WIDTH <= width;
			c++, x += CELL_WIDTH) {
			draw_value(j, row, y, x, cell_value(j, row, v->column[c]));
		}
	}
	if (foot > 1) {
		print_at(lines - 2, 0, width, 0, vtr_live_hint(j, text, sizeof(text)));
	}
	print_at(lines - 1, 0, width, 0,
		v->sorted ? "q quit   p pause   s as they came   arrows scroll"
			  : "q quit   p pause   s sort columns by the first row   arrows scroll");
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
static int wait_for_key(const struct vtr_live_job *j, double seconds, struct view *v)
{
	timeout((int)(seconds * 1000));
	switch (getch()) {
	case 'q':
		return 1;
	case 'p':
		v->paused = !v->paused;
		break;
	case 's':
		v->sorted = !v->sorted;
		break;
	case KEY_UP:
		scroll_by(&v->top, -1, j->rows);
		break;
	case KEY_DOWN:
		scroll_by(&v->top, 1, j->rows);
		break;
	case KEY_LEFT:
		scroll_by(&v->left, -1, j->columns);
		break;
	case KEY_RIGHT:
		scroll_by(&v->left, 1, j->columns);
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
	struct view v = { .column = NULL };
	double due = screen_now_s();
	int rc = 0;

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
		if (!v.paused && screen_now_s() >= due) {
			if (vtr_live_read(j, only, err) < 0) {
				rc = -1;
				break;
			}
			due = screen_now_s() + period_s;
			if (!j->running) {
				break;
			}
		}
		draw_screen(j, &v);
		rc = wait_for_key(j, v.paused ? 0.5 : fmax(due - screen_now_s(), 0.01), &v);
	}
	endwin();
	free(v.column);
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
