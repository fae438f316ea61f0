/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads symbol tables. Nothing in the file is trusted: each offset is compared with the file's size. */
#include "config.h"
#include "collector-plugin/host/program/symbols.h"
#include "collector-plugin/host/memory.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text/quote.h"
#include "base/text/text.h"

struct symbol {
	uint64_t value, size;
	const char *name;
	int rank; /* of equal symbols the one with the lowest rank is taken: global, weak, local */
};

struct vt_symbols {
	const uint8_t *map;
	size_t size;
	char *text;            /* output of a command; or NULL */
	struct symbol *symbol; /* in ascending order */
	size_t n;
};

static VT_SELDOM int map_symbol_file(struct vt_symbols *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > (off_t)sizeof(ElfW(Ehdr))) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0) {
		close(fd);
	}
	if (p == MAP_FAILED) {
		return -1;
	}
	s->map = p;
	s->size = (size_t)st.st_size;
	return 0;
}

/* Returns n bytes of the file at this offset, or NULL if the file does not have them. */
static const void *bytes_at(const struct vt_symbols *s, uint64_t offset, uint64_t n)
{
	return offset <= s->size && n <= s->size - offset ? s->map + offset : NULL;
}

static const ElfW(Ehdr) * symbol_elf_header(const struct vt_symbols *s)
{
	const ElfW(Ehdr) *h = (const ElfW(Ehdr) *)(const void *)s->map;

	if (memcmp(h->e_ident, ELFMAG, SELFMAG) ||
		h->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
		h->e_shentsize != sizeof(ElfW(Shdr)) || h->e_shoff % 8 ||
		!bytes_at(s, h->e_shoff, (uint64_t)h->e_shnum * sizeof(ElfW(Shdr)))) {
		return NULL;
	}
	return h;
}

static const ElfW(Shdr) * section(const struct vt_symbols *s, const ElfW(Ehdr) * h, unsigned type)
{
	const ElfW(Shdr) *all = (const ElfW(Shdr) *)(const void *)(s->map + h->e_shoff);
	unsigned i;

	for (i = 0; i < h->e_shnum; i++) {
		if (all[i].sh_type == type && bytes_at(s, all[i].sh_offset, all[i].sh_size)) {
			return &all[i];
		}
	}
	return NULL;
}

VT_SELDOM const uint8_t *vt_symbols_build_id(const void *notes, size_t n, size_t *size)
{
	const uint8_t *p = notes;
	ElfW(Nhdr) note;
	size_t name, desc;

	*size = 0;
	while (n >= sizeof(note)) {
		memcpy(&note, p, sizeof(note));
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name > n - sizeof(note) || desc > n - sizeof(note) - name) {
			return NULL;
		}
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(p + sizeof(note), "GNU", 4)) {
			*size = note.n_descsz < VT_BUILD_ID ? note.n_descsz : VT_BUILD_ID;
			return p + sizeof(note) + name;
		}
		p += sizeof(note) + name + desc;
		n -= sizeof(note) + name + desc;
	}
	return NULL;
}

static VT_SELDOM const uint8_t *build_id_of(const struct vt_symbols *s, const ElfW(Ehdr) * h, size_t *n)
{
	const ElfW(Shdr) *all = (const ElfW(Shdr) *)(const void *)(s->map + h->e_shoff);
	const uint8_t *id = NULL;
	unsigned i;

	*n = 0;
	for (i = 0; i < h->e_shnum && !id; i++) {
		if (all[i].sh_type == SHT_NOTE && bytes_at(s, all[i].sh_offset, all[i].sh_size)) {
			id = vt_symbols_build_id(s->map + all[i].sh_offset, all[i].sh_size, n);
		}
	}
	return id;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->value != y->value) {
		return x->value < y->value ? -1 : 1;
	}
	return x->rank != y->rank ? x->rank - y->rank : strcmp(x->name, y->name);
}

/* Reads the functions of a section of symbols. Returns their number. */
static VT_SELDOM size_t read_functions(struct vt_symbols *s, const ElfW(Ehdr) * h, const ElfW(Shdr) * table)
{
	const ElfW(Shdr) *all = (const ElfW(Shdr) *)(const void *)(s->map + h->e_shoff), *text;
	const ElfW(Sym) *symbol = (const ElfW(Sym) *)(const void *)(s->map + table->sh_offset);
	size_t i, n = table->sh_size / sizeof(*symbol);
	const char *names;

	text = table->sh_link < h->e_shnum ? &all[table->sh_link] : NULL;
	if (!text || !bytes_at(s, text->sh_offset, text->sh_size) || text->sh_size == 0 || table->sh_offset % 8) {
		return 0;
	}
	names = (const char *)s->map + text->sh_offset;
	s->symbol = names[text->sh_size - 1] == '\0' ? malloc((n + 1) * sizeof(*s->symbol)) : NULL;
	for (i = 0; s->symbol && i < n; i++) {
		unsigned type = symbol[i].st_info & 15, bind = symbol[i].st_info >> 4;

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol[i].st_shndx != SHN_UNDEF &&
			symbol[i].st_name < text->sh_size) {
			s->symbol[s->n++] =
				(struct symbol){ symbol[i].st_value, symbol[i].st_size, names + symbol[i].st_name,
					bind == STB_GLOBAL         ? 0
						: bind == STB_WEAK ? 1
								   : 2 };
		}
	}
	if (s->n) {
		qsort(s->symbol, s->n, sizeof(*s->symbol), by_address);
	}
	return s->n;
}

/* Opens the file of debug information that a distribution installs separately. */
static VT_SELDOM struct vt_symbols *open_debug(const uint8_t *id, size_t n)
{
	char path[200];
	size_t i, k;

	if (n < 2 || n > VT_BUILD_ID) {
		return NULL;
	}
	k = (size_t)snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (i = 1; i < n; i++) {
		k += (size_t)snprintf(path + k, sizeof(path) - k, "%02x", id[i]);
	}
	snprintf(path + k, sizeof(path) - k, ".debug");
	return vt_symbols_open(path, id, n);
}

VT_SELDOM struct vt_symbols *vt_symbols_open(const char *path, const uint8_t *build_id, size_t n)
{
	struct vt_symbols *s = calloc(1, sizeof(*s)), *debug;
	const ElfW(Ehdr) *h = s && map_symbol_file(s, path) == 0 ? symbol_elf_header(s) : NULL;
	const ElfW(Shdr) * table;
	const uint8_t *id;
	size_t size = 0;

	id = h ? build_id_of(s, h, &size) : NULL;
	if (!h || (n && (size != n || memcmp(id, build_id, n)))) {
		vt_symbols_close(s);
		return NULL;
	}
	table = section(s, h, SHT_SYMTAB);
	if (table && read_functions(s, h, table) > 0) {
		return s;
	}
	/* a stripped file has a separate debug file, which has a .symtab */
	debug = strncmp(path, "/usr/lib/debug/", 15) ? open_debug(id, size) : NULL;
	if (debug) {
		vt_symbols_close(s);
		return debug;
	}
	free(s->symbol);
	s->symbol = NULL;
	s->n = 0;
	table = section(s, h, SHT_DYNSYM);
	if (!table || read_functions(s, h, table) == 0) {
		vt_symbols_close(s);
		return NULL;
	}
	return s;
}

/* ---- by a command ---- */

/* Parses "NAME TYPE VALUE SIZE". SIZE may be missing, and a demangled NAME may contain blanks. */
static int parse_line(char *line, struct symbol *s)
{
	char *word[3] = { NULL, NULL, NULL }, *end; /* the last words of the line, in reverse order */
	int n;

	line[strcspn(line, "\n")] = '\0';
	for (n = 0; n < 3 && (end = strrchr(line, ' ')) != NULL; n++) {
		word[n] = end + 1;
		*end = '\0';
		if (strlen(word[n]) == 1 && strchr("TtWwVvi", *word[n])) {
			break;
		}
	}
	if (n == 0 || n == 3 || !end || !*line) {
		return -1;
	}
	*s = (struct symbol){ .name = line, .rank = *word[n] == 'T' ? 0 : *word[n] == 't' ? 2 : 1 };
	s->value = strtoull(word[n - 1], NULL, 16);
	s->size = n == 2 ? strtoull(word[0], NULL, 16) : 0;
	return 0;
}

static int read_output(struct vt_symbols *s, FILE *f)
{
	size_t used, lines = 0, i;
	char *line, *next;

	if (tkm_read_text(f, &s->text, &used) < 0) {
		return -1;
	}
	for (i = 0; i < used; i++) {
		lines += s->text[i] == '\n';
	}
	s->symbol = calloc(lines + 1, sizeof(*s->symbol));
	for (line = s->text; s->symbol && *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next != '\0';
		s->n += parse_line(line, &s->symbol[s->n]) == 0 && s->n < lines;
	}
	return s->n ? 0 : -1;
}

struct vt_symbols *vt_symbols_by_command(const char *command, const char *path)
{
	struct vt_symbols *s = calloc(1, sizeof(*s));
	char word[8192], line[12000];
	FILE *f;
	size_t i;
	int rc;

	snprintf(line, sizeof(line), "%.3000s %s </dev/null", command, tkm_shell_word(word, sizeof(word), path));
	f = s ? popen(line, "re") : NULL;
	rc = f ? read_output(s, f) : -1;
	if ((f && pclose(f) != 0) || rc < 0) {
		vt_symbols_close(s);
		return NULL;
	}
	qsort(s->symbol, s->n, sizeof(*s->symbol), by_address);
	for (i = 0; i + 1 < s->n; i++) {
		if (s->symbol[i].size == 0) {
			s->symbol[i].size = s->symbol[i + 1].value - s->symbol[i].value;
		}
	}
	return s;
}

void vt_symbols_close(struct vt_symbols *s)
{
	if (s) {
		if (s->map) {
			munmap((void *)(uintptr_t)s->map, s->size);
		}
		free(s->text);
		free(s->symbol);
		free(s);
	}
}

const char *vt_symbols_find(const struct vt_symbols *s, uint64_t offset)
{
	size_t low = 0, high = s->n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (s->symbol[mid].value <= offset) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	if (low == 0) {
		return NULL;
	}
	/* if several names have the same address, take the first */
	for (low--; low > 0 && s->symbol[low - 1].value == s->symbol[low].value; low--) {
	}
	return offset == s->symbol[low].value || offset - s->symbol[low].value < s->symbol[low].size
		? s->symbol[low].name
		: NULL;
}
