# snowflake_ids: lists and rules only. What takes several steps lives in tools/.
#
#   make                  build                  make demo    a tour on a throw-away server (PSQL=1: stay in psql)
#   make install          install (PGXS)         make test    the suites (SUITES=, TESTS=, PROVE_TESTS= choose)
#   make test-all         the suites, and what make test leaves out because it takes long
#   make lint             layout, clang-tidy, layers, symbols, warnings
#   make installcheck     regress on a server that is up, THROW-AWAY ONLY: ids of its other databases would come twice
#   make unit             unit tests only        make setup   install what is missing (PURPOSE=demo|unit|test|lint)
#   make format           lay out C++ and Perl   make clean   remove what was built
#   make fuzz             every parser (SECONDS=30 each)
#   make sanitize         unit and regress tests under the checkers (MODES="unit thread server calls", also valgrind)
#   make prove            random histories of servers in virtual time (SECONDS=60); tools/prove has more proofs
#   make storm            clients, faults, failovers, and no id twice (MINUTES=1)
#   make soak             the scripts again beside busy processors (TIMES=5)
#   make bench            our speed beside others', and BRIN: tables of doc/choosing.md and doc/queries.md (BENCH="-r 1": shorter)
#   make feed-bench       ways to read new rows: what they lose, how late they are, what they cost (SECONDS=1, WAYS=)
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

FRAGMENTS  := $(sort $(wildcard src/sql/*.sql))
SCRIPT     := $(BUILD)/$(EXTENSION)--$(EXTVERSION).sql

# convert/ is an extension of its own: SQL in convert/src/sql, and the triggers in a library of its own.
CONVERT           := snowflake_ids_convert
CONVERT_VERSION   := $(shell sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" convert/$(CONVERT).control)
CONVERT_FRAGMENTS := $(sort $(wildcard convert/src/sql/*.sql))
CONVERT_SCRIPT    := $(BUILD)/$(CONVERT)--$(CONVERT_VERSION).sql
MODULES     = $(CONVERT)
# After the first release, also what updates a version to the next one: see tools/next-version.
DATA        = convert/$(CONVERT).control $(sort $(wildcard src/sql/updates/*.sql convert/src/sql/updates/*.sql))
DATA_built  = $(SCRIPT) $(CONVERT_SCRIPT)

# One regress test per topic; setup, if there is one, creates what the others share.
topics     := $(sort $(notdir $(basename $(wildcard sql/*.sql))))
REGRESS     = $(filter setup,$(topics)) $(filter-out setup,$(topics))
convert_topics  := $(sort $(notdir $(basename $(wildcard convert/sql/*.sql))))
CONVERT_REGRESS  = $(filter setup,$(convert_topics)) $(filter-out setup,$(convert_topics))
REGRESS_PSQL    := tools/regress-psql
REGRESS_OPTS     = --launcher=$(REGRESS_PSQL)

include tools/flags.mk

# No LLVM bitcode. Only the JIT inliner reads it, our functions are too small a part of any query to gain by that,
# and it needs exactly the clang that the server was packaged with. "override", for Makefile.global sets it later.
override with_llvm = no

.DEFAULT_GOAL := all
.SECONDARY:
.PHONY: give-back bench feed-bench demo test test-all simulator weak-memory prove unit unit-bins unit-objs fuzz fuzz-bins sanitize soak storm matrix cross dist deb lint setup format follow reference objects refuse-used-server FORCE
.PHONY: installcheck-convert

# ---- build: PGXS, once there is one. Before that only the targets that can fetch it work.
PG_CONFIG ?= $(shell tools/pg-config)
PGXS      := $(if $(PG_CONFIG),$(shell $(PG_CONFIG) --pgxs 2>/dev/null))
include tools/prefix.mk
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
	$(if $(strip $(CONVERT_REGRESS)),mkdir -p convert/output && $(pg_regress_installcheck) $(REGRESS_OPTS) --inputdir=convert \
	    $(convert_expecteddir) --outputdir=convert/output $(CONVERT_REGRESS))
refuse-used-server:
	@tools/refuse-used-server '$(bindir)/psql' '$(CONTRIB_TESTDB)'

# $(call run,what to say,command): V=1 shows the whole command instead.
run = $(if $(V),,@echo '  $(1)' && )$(2)

objects: $(OBJS) $(CONVERT_OBJS)

include tools/build.mk tools/programs.mk

# ---- everything that is more than a compiler run
demo:
	+@tools/demo
test:
	+@tools/test
test-all:
	+@ALL=1 tools/test
unit:
	+@SUITES=unit tools/test
# SECONDS from the command line only: a shell may count in a variable of that name.
fuzz:
	+@SECONDS_EACH=$(if $(filter command line,$(origin SECONDS)),$(SECONDS),30) tools/fuzz
sanitize:
	+@tools/sanitize $(MODES)
bench: all
	@test/bench/speed -o doc/choosing.md $(BENCH)
	@test/bench/brin -o doc/queries.md
# A short run does not write the page.
feed-bench: all
	@tools/setup feed
	@test/bench/feed $(if $(filter command line,$(origin SECONDS)),-c -r 1 -s $(SECONDS),-o doc/feed-ways.md) $(WAYS)
prove:
	+@tools/prove $(or $(PROOF),simulator $(or $(SECONDS),60))
soak:
	+@tools/soak $(or $(TIMES),5)
storm:
	+@test/proofs/storm/storm $(or $(MINUTES),1)
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
