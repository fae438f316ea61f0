# SPDX-License-Identifier: BSD-3-Clause
# What search.sh runs: the fuzz targets with clang, libFuzzer and AddressSanitizer, behind one library of all folders
# in two kinds. SRC, BUILD (configured) and OUT are given; make -f search.mk ... OUT/fuzz_NAME.
#
# "all" shows libFuzzer every branch and every comparison. "parts", for what is after a good definition layer, leaves
# out that layer and the comparisons: half the time of an execution for what its stored inputs know already.
CC = clang
UBSAN = # -fsanitize=undefined -fno-sanitize-recover=undefined, at a third of the speed
ASAN = -fsanitize=address # none: several times as fast; what is learnt so has to run with it, too
FLAGS = -g -O2 -w -std=gnu11 -D_GNU_SOURCE -DFUZZING $(ASAN) $(UBSAN) -I$(BUILD) -I$(SRC) -MMD -MP
COVERAGE_all = -fsanitize=fuzzer-no-link
COVERAGE_parts = -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp -fsanitize-coverage-ignorelist=$(OUT)/good-parts
LIBS = -lm -lzstd -lxxhash -ljansson -ldl -lpthread -lgsl -lgslcblas -lopen-trace-format2 -lopen-trace-format -lsqlite3 -lz

folders = base timers stf calib/map calib/tree calib/solve calib/file sampler exchange tools
programs = %_main.c %/tools/program.c %/clkapply.c %/otf2_none.c %/tools/convert/merge.c %/tmr_mpi_wtime.c %/vtcounters.c
sources = $(filter-out $(programs), \
	$(shell find $(addprefix $(SRC)/,$(folders) collector-plugin/merge collector-plugin/raw) -name '*.c') \
	$(addprefix $(SRC)/collector-plugin/,host/program/address.c host/program/symbols.c host/program/demangle.c net/contact.c \
	net/message.c))
names = $(patsubst $(SRC)/%.c,%,$(sources))

part = layer index declarations data anchors frames
parts = index declarations data anchors frames
other = single csv chrome perfetto packets clk json message words option raw sampler ctf lttng otf otf2 otf2_runs

all: $(addprefix $(OUT)/fuzz_,$(part) $(other))

$(OUT)/good-parts:
	mkdir -p $(OUT)
	printf 'src:*/stf/format/deflayer.c\nsrc:*/stf/format/layout.c\nsrc:*/tests/fuzz/*\n' >$@

$(OUT)/all/%.o: $(SRC)/%.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(COVERAGE_all) -c -o $@ $<
$(OUT)/parts/%.o: $(SRC)/%.c | $(OUT)/good-parts
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(COVERAGE_parts) -c -o $@ $<
$(OUT)/%/lib.a:
	rm -f $@
	ar rcs $@ $^
$(OUT)/all/lib.a: $(addprefix $(OUT)/all/,$(addsuffix .o,$(names)))
$(OUT)/parts/lib.a: $(addprefix $(OUT)/parts/,$(addsuffix .o,$(names)))

$(addprefix $(OUT)/fuzz_,$(parts)): $(OUT)/fuzz_%: $(SRC)/tests/fuzz/fuzz_part.c $(OUT)/parts/lib.a
	$(CC) $(FLAGS) $(COVERAGE_parts) -DFUZZ_PART=$* -fsanitize=fuzzer -o $@ $< $(OUT)/parts/lib.a $(LIBS)
$(OUT)/fuzz_layer: $(SRC)/tests/fuzz/fuzz_part.c $(OUT)/all/lib.a
	$(CC) $(FLAGS) $(COVERAGE_all) -DFUZZ_PART=layer -fsanitize=fuzzer -o $@ $< $(OUT)/all/lib.a $(LIBS)
$(OUT)/fuzz_otf2_runs: $(SRC)/tests/fuzz/fuzz_otf2.c $(OUT)/all/lib.a
	$(CC) $(FLAGS) $(COVERAGE_all) -DONE_LOCATION -fsanitize=fuzzer -o $@ $< $(OUT)/all/lib.a $(LIBS)
$(OUT)/fuzz_chrome $(OUT)/fuzz_perfetto: $(OUT)/fuzz_%: $(SRC)/tests/fuzz/fuzz_csv.c $(OUT)/all/lib.a
	$(CC) $(FLAGS) $(COVERAGE_all) -DFUZZ_FORMAT=$* -fsanitize=fuzzer -o $@ $< $(OUT)/all/lib.a $(LIBS)
$(OUT)/fuzz_packets: $(SRC)/tests/fuzz/fuzz_json.c $(OUT)/all/lib.a
	$(CC) $(FLAGS) $(COVERAGE_all) -DFUZZ_PACKETS -fsanitize=fuzzer -o $@ $< $(OUT)/all/lib.a $(LIBS)
$(addprefix $(OUT)/fuzz_,$(filter-out chrome perfetto packets otf2_runs,$(other))): $(OUT)/fuzz_%: $(SRC)/tests/fuzz/fuzz_%.c $(OUT)/all/lib.a
	$(CC) $(FLAGS) $(COVERAGE_all) -fsanitize=fuzzer -o $@ $< $(OUT)/all/lib.a $(LIBS)

-include $(wildcard $(OUT)/*/*/*.d $(OUT)/*.d)
