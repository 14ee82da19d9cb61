# snowflake_ids: lists and rules only. What takes several steps lives in tools/.
#
#   make                  build                  make demo    a tour on a throw-away server (PSQL=1: stay in psql)
#   make install          install (PGXS)         make test    every suite (SUITES=, TESTS=, PROVE_TESTS= choose)
#   make lint             layout, clang-tidy, layers, symbols, warnings
#   make installcheck     regress on a server that is up, THROW-AWAY ONLY: ids of its other databases would come twice
#   make unit             unit tests only        make setup   install what is missing (PURPOSE=demo|unit|test|lint)
#   make format           lay out C++ and Perl   make clean   remove what was built
#   make fuzz             every parser (SECONDS=30 each)
#   make sanitize         unit and regress tests under the checkers (MODES="unit thread server calls", also valgrind)
#   make prove            random histories of servers in virtual time (SECONDS=60); tools/prove has more proofs
#   make storm            clients, faults, failovers, and no id twice (MINUTES=1)
#   make bench            our speed beside others', three runs; writes doc/speed.md (BENCH="-r 1": a shorter one)
#   make follow           after a change: build, kept scripts, doc/reference.md, expected outputs (TESTS=)
#   make reference        writes doc/reference.md from the comments in the catalogs
#   make cross            unit tests compiled for arm64 and big-endian s390x, under qemu (ARCHITECTURES=)
#   make dist             the release as a zip for PGXN, from git
#   make deb              Debian packages in build/deb, for each server that has headers here
#   make matrix           the suites with every supported PostgreSQL (MAJORS="15 16 17 18 19"), in chroots
#
# PG_CONFIG=/path/to/pg_config chooses the server; the default is the newest one installed. CXX=clang++ works too.

EXTENSION   = snowflake_ids
MODULE_big  = snowflake_ids
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" snowflake_ids.control)

# Objects go to build/, away from the sources; tools/lint builds with other compilers into directories of its own.
BUILD      := build
OBJDIR     ?= $(BUILD)/obj
SOURCES    := $(sort $(wildcard src/pg/*.cpp src/pg/*/*.cpp src/ledger/*.cpp src/core/*.cpp))
OBJS       := $(SOURCES:src/%.cpp=$(OBJDIR)/%.o)
CONVERT_SOURCES := $(sort $(wildcard convert/src/*.cpp))
CONVERT_OBJS    := $(CONVERT_SOURCES:convert/src/%.cpp=$(OBJDIR)/convert/%.o)

FRAGMENTS  := $(sort $(wildcard src/sql/install/*.sql))
SCRIPT     := $(BUILD)/$(EXTENSION)--$(EXTVERSION).sql

# convert/ is an extension of its own: SQL in convert/install, and the triggers in a library of its own.
CONVERT           := snowflake_ids_convert
CONVERT_VERSION   := $(shell sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" convert/$(CONVERT).control)
CONVERT_FRAGMENTS := $(sort $(wildcard convert/install/*.sql))
CONVERT_SCRIPT    := $(BUILD)/$(CONVERT)--$(CONVERT_VERSION).sql
MODULES     = $(CONVERT)
DATA        = convert/$(CONVERT).control
DATA_built  = $(SCRIPT) $(CONVERT_SCRIPT)

# One regress test per topic; setup, if there is one, creates what the others share.
topics     := $(sort $(notdir $(basename $(wildcard sql/*.sql))))
REGRESS     = $(filter setup,$(topics)) $(filter-out setup,$(topics))
convert_topics  := $(sort $(notdir $(basename $(wildcard convert/sql/*.sql))))
CONVERT_REGRESS  = $(filter setup,$(convert_topics)) $(filter-out setup,$(convert_topics))

# C++ without its runtime: a PostgreSQL error is a longjmp, which must find no destructor to skip, and a library
# that needs no libstdc++ loads everywhere. -fno-plt: one jump less for each call into the server.
# -Wno-register: atomics in the headers of PostgreSQL 15. -Wno-dangling-reference: g++ 13 and 14 warn of every function
# that takes one reference and returns another.
CXX_CORE    = -std=c++20 -O2 -fno-plt -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden
CXX_WARN    = -Wall -Wextra -Wno-unused-parameter -Wno-register -Wno-dangling-reference
# The server's flags and headers are made for gcc; clang does not know all of them.
ifneq (,$(findstring clang,$(CXX)))
CXX_WARN   += -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-ignored-attributes
endif
PG_CPPFLAGS = -Isrc -DSNOWFLAKE_IDS_VERSION='"$(EXTVERSION)"'
PG_CXXFLAGS = $(CXX_CORE) $(CXX_WARN) -MMD -MP $(EXTRA_CXXFLAGS)
# Only what the server calls is visible; macOS has a list for that. -Bsymbolic, noseparate-code: less to look up and to
# map when a session loads the library.
comma      := ,
EXPORTS     = $(if $(filter darwin,$(PORTNAME)),$(BUILD)/exports.list,tools/exports.map)
SHLIB_LINK += $(if $(filter darwin,$(PORTNAME)),-Wl$(comma)-exported_symbols_list$(comma)$(EXPORTS),-Wl$(comma)--version-script=$(EXPORTS) \
              -Wl$(comma)-Bsymbolic -Wl$(comma)-z$(comma)noseparate-code) $(EXTRA_LDFLAGS)
EXTRA_CLEAN = $(BUILD) results regression.diffs regression.out convert/output

# No LLVM bitcode. Only the JIT inliner reads it, our functions are too small a part of any query to gain by that,
# and it needs exactly the clang that the server was packaged with. "override", for Makefile.global sets it later.
override with_llvm = no

.DEFAULT_GOAL := all
.SECONDARY:
.PHONY: give-back bench demo test simulator prove unit unit-bins unit-objs fuzz fuzz-bins sanitize storm matrix cross dist deb lint setup format follow reference objects refuse-used-server FORCE
.PHONY: installcheck-convert

# ---- build: PGXS, once there is one. Before that only the targets that can fetch it work.
PG_CONFIG ?= $(shell tools/pg-config)
PGXS      := $(if $(PG_CONFIG),$(shell $(PG_CONFIG) --pgxs 2>/dev/null))
# "make install prefix=/opt/extras", as PostgreSQL 18's manual has it: into /opt/extras/share/postgresql and
# /opt/extras/lib/postgresql, without "postgresql" if the prefix has it. PGXS alone ignores the prefix where the packager
# of the server has fixed its directories, as Debian has, and elsewhere looks for the server's headers below it.
ifeq (command line,$(origin prefix))
below      := $(if $(findstring pgsql,$(prefix))$(findstring postgres,$(prefix)),,/postgresql)
into       := $(prefix)
override prefix :=
MAKEOVERRIDES := $(filter-out prefix=%,$(MAKEOVERRIDES))
endif
ifneq (,$(wildcard $(PGXS)))
include $(PGXS)
ifneq (,$(into))
override datadir   := $(into)/share$(below)
override pkglibdir := $(into)/lib$(below)
endif
else
all install installcheck objects:
	@echo "PostgreSQL or its server headers are missing (PG_CONFIG='$(PG_CONFIG)'). 'make setup' installs them." >&2; false
clean:
	rm -rf $(EXTRA_CLEAN)
endif

# "sudo make install" leaves no files of root in build/.
install: give-back
give-back: all
	@bash -c '. tools/lib.sh && give_back'

# The regress tests lead the generators of the server back. It stops when other databases have the extension.
# PostgreSQL 15 takes expected files from the input directory.
convert_expecteddir = $(if $(filter 15,$(MAJORVERSION)),,--expecteddir=convert)
installcheck: refuse-used-server installcheck-convert
installcheck-convert: refuse-used-server
	$(if $(strip $(CONVERT_REGRESS)),mkdir -p convert/output && $(pg_regress_installcheck) --dbname='$(CONTRIB_TESTDB)' --inputdir=convert \
	    $(convert_expecteddir) --outputdir=convert/output $(CONVERT_REGRESS))
refuse-used-server:
	@tools/refuse-used-server '$(bindir)/psql' '$(CONTRIB_TESTDB)'

# $(call run,what to say,command): V=1 shows the whole command instead.
run = $(if $(V),,@echo '  $(1)' && )$(2)

objects: $(OBJS) $(CONVERT_OBJS)

# A change of compiler, server or flags rebuilds all. The server is known by how it was configured, not by its
# place: a relocated copy of it, as tools/private-install makes, must not.
FLAGS_STAMP := $(OBJDIR)/flags
SERVER       = $(shell $(PG_CONFIG) --version --configure)
$(FLAGS_STAMP): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(SERVER) $(CXX) $(CXXFLAGS) $(PG_CPPFLAGS) $(SHLIB_LINK) $(OBJS) $(CONVERT_OBJS))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(OBJS): $(OBJDIR)/%.o: src/%.cpp $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(call run,c++ $<,$(CXX) $(CXXFLAGS) $(CPPFLAGS) -c -o $@ $<)
$(CONVERT_OBJS): $(OBJDIR)/convert/%.o: convert/src/%.cpp $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(call run,c++ $<,$(CXX) $(CXXFLAGS) $(CPPFLAGS) -c -o $@ $<)
-include $(OBJS:.o=.d) $(CONVERT_OBJS:.o=.d)

$(EXTENSION)$(DLSUFFIX): $(FLAGS_STAMP) $(EXPORTS)
$(CONVERT)$(DLSUFFIX): $(CONVERT_OBJS) $(EXPORTS)
	$(LINK.shared) -o $@ $(CONVERT_OBJS) $(LDFLAGS) $(LDFLAGS_SL) $(SHLIB_LINK)
$(BUILD)/exports.list: tools/exports.map
	@mkdir -p $(@D)
	sed -n 's/ *global: *//p' $< | tr -d ' ' | tr ';' '\n' | sed -n 's/^./_&/p' >$@

# $(call assemble,EXTENSION,FRAGMENTS): each time, so that a fragment added or removed is seen; written only when it differs.
# A fragment that begins with "For each of: sno:~ mastic:~~" is written once for each of them: %ID% is sno, %TICK% is ~.
define assemble
	@mkdir -p $(@D)
	@{ printf '%s\n' '\echo Use "CREATE EXTENSION $(1)" to load this file. \quit'; \
	   for f in $(2); do \
	       each=$$(sed -n '1s/^-- For each of: //p' "$$f"); \
	       for id in $${each:--}; do \
	           printf '\n-- %s\n' "$${f##*/}"; \
	           sed "s/%ID%/$${id%:*}/g; s/%TICK%/$${id#*:}/g; /^-- For each of: /d" "$$f"; \
	       done; \
	   done; } >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
endef
$(SCRIPT): FORCE
	$(call assemble,$(EXTENSION),$(FRAGMENTS))
$(CONVERT_SCRIPT): FORCE
	$(call assemble,$(CONVERT),$(CONVERT_FRAGMENTS))

# ---- unit tests and explorers: one program per test/unit/*_test.cpp and test/explorers/*_test.cpp, with core and ledger
# but without PostgreSQL. An explorer goes through all states of a model, which takes seconds to minutes.
UNIT_TESTS    := $(sort $(wildcard test/unit/*_test.cpp test/explorers/*_test.cpp))
UNIT_BINS     := $(UNIT_TESTS:test/%.cpp=$(BUILD)/%)
UNIT_LIB      := $(wildcard src/core/*.cpp src/ledger/*.cpp)
UNIT_LIB_OBJS := $(UNIT_LIB:%.cpp=$(BUILD)/unit/obj/%.o)
UNIT_CXXFLAGS  = -std=c++20 -O1 -g $(CXX_WARN) -pthread -MMD -MP -Isrc -Itest/unit $(if $(SANITIZE),-fsanitize=$(SANITIZE)) \
                 -DTEST_VECTORS='"$(CURDIR)/test/vectors"' $(EXTRA_CXXFLAGS)
UNIT_STAMP    := $(BUILD)/unit/flags

unit-bins: $(UNIT_BINS)
unit-objs: $(UNIT_LIB_OBJS) $(UNIT_TESTS:%.cpp=$(BUILD)/unit/obj/%.o)
$(UNIT_STAMP): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(CXX) $(UNIT_CXXFLAGS) $(UNIT_LIB_OBJS))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(BUILD)/unit/obj/%.o: %.cpp $(UNIT_STAMP)
	@mkdir -p $(@D)
	$(call run,c++ $<,$(CXX) $(UNIT_CXXFLAGS) -c -o $@ $<)
$(UNIT_BINS): $(BUILD)/%: $(BUILD)/unit/obj/test/%.o $(UNIT_LIB_OBJS)
	@mkdir -p $(@D)
	$(call run,link $@,$(CXX) $(UNIT_CXXFLAGS) -o $@ $^ -lgtest_main -lgtest)
-include $(UNIT_LIB_OBJS:.o=.d) $(UNIT_TESTS:%.cpp=$(BUILD)/unit/obj/%.d)

# ---- the simulator of servers in virtual time: see tools/prove
SIMULATOR_SOURCES := test/simulator/simulator.cpp $(wildcard src/ledger/*.cpp)
simulator: $(BUILD)/simulator
$(BUILD)/simulator: $(SIMULATOR_SOURCES) $(wildcard test/simulator/*.hpp src/ledger/*.hpp src/core/*.hpp)
	@mkdir -p $(@D)
	$(call run,c++ $@,$(CXX) -std=c++20 -O2 -g $(CXX_WARN) -Isrc -Itest $(EXTRA_CXXFLAGS) -o $@ $(SIMULATOR_SOURCES))

# ---- fuzz targets: one program per test/fuzz/*.cpp. libFuzzer is part of clang.
FUZZ_TARGETS  := $(sort $(wildcard test/fuzz/*.cpp))
FUZZ_BINS     := $(FUZZ_TARGETS:test/fuzz/%.cpp=$(BUILD)/fuzz/%)
FUZZ_CXX      ?= clang++
FUZZ_CXXFLAGS  = -std=c++20 -O1 -g -Wall -Wextra -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined \
                 -fno-sanitize-recover=all -MMD -MP -Isrc -Itest/fuzz

fuzz-bins: $(FUZZ_BINS)
$(FUZZ_BINS): $(BUILD)/fuzz/%: test/fuzz/%.cpp Makefile
	@mkdir -p $(@D)
	$(call run,fuzz $<,$(FUZZ_CXX) $(FUZZ_CXXFLAGS) -MF $@.d -o $@ $< $(wildcard src/core/*.cpp src/ledger/*.cpp))
-include $(FUZZ_BINS:=.d)

# ---- everything that is more than a compiler run
demo:
	+@tools/demo
test:
	+@tools/test
unit:
	+@SUITES=unit tools/test
# SECONDS from the command line only: a shell may count in a variable of that name.
fuzz:
	+@SECONDS_EACH=$(if $(filter command line,$(origin SECONDS)),$(SECONDS),30) tools/fuzz
sanitize:
	+@tools/sanitize $(MODES)
bench: all
	@test/bench/speed -o doc/speed.md $(BENCH)
prove:
	+@tools/prove $(or $(PROOF),simulator $(or $(SECONDS),60))
storm:
	+@test/storm/storm $(or $(MINUTES),1)
matrix:
	+@tools/matrix
cross:
	+@tools/cross $(ARCHITECTURES)
dist:
	@tools/dist
deb:
	@tools/deb
lint:
	+@tools/lint
setup:
	@tools/setup $(or $(PURPOSE),test)
follow:
	+@tools/follow $(TESTS)
reference: all
	+@tools/with-server -- tools/reference >$(BUILD)/reference.md && mv $(BUILD)/reference.md doc/reference.md
format:
	clang-format -i $(sort $(shell find src convert test tools -name '*.[ch]pp'))
	! command -v perltidy >/dev/null || bash -c '. tools/lib.sh && perl_files | xargs perltidy --profile=.perltidyrc -b -bext=/'
