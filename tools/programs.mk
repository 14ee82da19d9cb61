# Programs that need no server: unit tests, explorers, the simulator, fuzz targets.

# ---- unit tests, a program for each layer, and explorers. The files of a layer are compiled as one, in half of the
# time; each is also a program by itself, for who chooses it. An explorer visits all states of a model, which takes seconds
# to minutes.
UNIT_TESTS    := $(sort $(wildcard test/unit/*_test.cpp test/proofs/explorers/*_test.cpp))
LAYERS        := core ledger
EXPLORERS     := $(patsubst test/proofs/%.cpp,$(BUILD)/%,$(filter test/proofs/%,$(UNIT_TESTS)))
UNIT_BINS     := $(LAYERS:%=$(BUILD)/unit/%_test) $(EXPLORERS)
UNIT_LIB      := $(wildcard src/core/*.cpp src/ledger/*.cpp)
UNIT_LIB_OBJS := $(UNIT_LIB:%.cpp=$(BUILD)/unit/obj/%.o)
UNIT_CXXFLAGS  = -std=c++20 -O1 $(CXX_WARN) -pthread -MMD -MP -I. -Isrc -Itest/unit -Itest/proofs $(if $(SANITIZE),-g1 -fsanitize=$(SANITIZE)) \
                 -DTEST_VECTORS='"$(CURDIR)/test/vectors"' $(EXTRA_CXXFLAGS)
UNIT_STAMP    := $(BUILD)/unit/flags

unit-bins: $(UNIT_BINS)
unit-objs: $(UNIT_LIB_OBJS) $(LAYERS:%=$(BUILD)/unit/obj/%_test.o) $(EXPLORERS:$(BUILD)/%=$(BUILD)/unit/obj/test/proofs/%.o)
$(UNIT_STAMP): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(CXX) $(UNIT_CXXFLAGS) $(UNIT_LIB_OBJS))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
# GoogleTest's header, compiled once
GTEST_HEADER  := $(BUILD)/unit/gtest.hpp
$(GTEST_HEADER).gch: $(UNIT_STAMP)
	@printf '%s\n' '#include <gtest/gtest.h>' '#include <algorithm>' '#include <filesystem>' '#include <fstream>' \
	    '#include <functional>' '#include <map>' '#include <random>' '#include <set>' >$(GTEST_HEADER)
	$(call run,c++ $(GTEST_HEADER),$(CXX) $(UNIT_CXXFLAGS) -MF $@.d -x c++-header -o $@ $(GTEST_HEADER))
$(UNIT_TESTS:%.cpp=$(BUILD)/unit/obj/%.o) $(LAYERS:%=$(BUILD)/unit/obj/%_test.o): $(GTEST_HEADER).gch
$(LAYERS:%=$(BUILD)/unit/obj/%_test.cpp): $(BUILD)/unit/obj/%_test.cpp: FORCE
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(filter test/unit/$*_%,$(UNIT_TESTS)) >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(LAYERS:%=$(BUILD)/unit/obj/%_test.o): %.o: %.cpp
	$(call run,c++ $<,$(CXX) $(UNIT_CXXFLAGS) -include $(GTEST_HEADER) -c -o $@ $<)
$(BUILD)/unit/obj/%.o: %.cpp $(UNIT_STAMP)
	@mkdir -p $(@D)
	$(call run,c++ $<,$(CXX) $(UNIT_CXXFLAGS) $(if $(filter test/%,$<),-include $(GTEST_HEADER)) -c -o $@ $<)
ONE_FILE      := $(patsubst test/unit/%.cpp,$(BUILD)/unit/%,$(filter test/unit/%,$(UNIT_TESTS)))
$(LAYERS:%=$(BUILD)/unit/%_test): $(BUILD)/unit/%: $(BUILD)/unit/obj/%.o
$(ONE_FILE): $(BUILD)/%: $(BUILD)/unit/obj/test/%.o
$(EXPLORERS): $(BUILD)/%: $(BUILD)/unit/obj/test/proofs/%.o
$(UNIT_BINS) $(ONE_FILE): $(UNIT_LIB_OBJS)
	@mkdir -p $(@D)
	$(call run,link $@,$(CXX) $(UNIT_CXXFLAGS) -o $@ $^ -lgtest_main -lgtest)
-include $(UNIT_LIB_OBJS:.o=.d) $(UNIT_TESTS:%.cpp=$(BUILD)/unit/obj/%.d) $(LAYERS:%=$(BUILD)/unit/obj/%_test.d)

# ---- the simulator of servers in virtual time: see tools/prove
SIMULATOR_SOURCES := test/proofs/simulator/simulator.cpp $(wildcard src/ledger/*.cpp)
simulator: $(BUILD)/simulator
$(BUILD)/simulator: $(SIMULATOR_SOURCES) $(wildcard test/proofs/simulator/*.hpp src/ledger/*.hpp src/core/*.hpp)
	@mkdir -p $(@D)
	$(call run,c++ $@,$(CXX) -std=c++20 -O2 -g $(CXX_WARN) -Isrc -Itest/proofs $(EXTRA_CXXFLAGS) -o $@ $(SIMULATOR_SOURCES))

# ---- memory orders: g++, because Debian 12's clang has no std::source_location. -O2 would compile longer than a short
# run saves.
weak-memory: $(BUILD)/weak_memory
$(BUILD)/weak_memory: test/proofs/weak_memory/weak_memory.cpp $(wildcard test/proofs/weak_memory/*.hpp src/ledger/*.hpp src/core/*.hpp)
	@mkdir -p $(@D)
	$(call run,c++ $@,g++ -std=c++20 -O1 -Wall -Wextra -Isrc -Itest/proofs/weak_memory -o $@ $<)

# ---- fuzz targets; libFuzzer is part of clang
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
