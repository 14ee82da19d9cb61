
# C++ without its runtime: a PostgreSQL error is a longjmp, which would skip destructors, and a library that needs no
# libstdc++ loads everywhere. -fno-plt: one jump less for each call into the server. -Wno-register: atomics in the
# headers of PostgreSQL 15. -Wno-dangling-reference: false alarms of g++ 13 and 14.
CXX_CORE    = -std=c++20 -O2 -fno-plt -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden
CXX_WARN    = -Wall -Wextra -Wno-unused-parameter -Wno-register -Wno-dangling-reference
# clang does not know all flags that the server was built with.
ifneq (,$(findstring clang,$(CXX)))
CXX_WARN   += -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-ignored-attributes
endif
PG_CPPFLAGS = -Isrc -DSNOWFLAKE_IDS_VERSION='"$(EXTVERSION)"'
PG_CXXFLAGS = $(CXX_CORE) $(CXX_WARN) -MMD -MP $(EXTRA_CXXFLAGS)
# Only what the server calls is visible; macOS has a list for that. -Bsymbolic, noseparate-code: loading is faster.
comma      := ,
EXPORTS     = $(if $(filter darwin,$(PORTNAME)),$(BUILD)/exports.list,tools/exports.map)
SHLIB_LINK += $(if $(filter darwin,$(PORTNAME)),-Wl$(comma)-exported_symbols_list$(comma)$(EXPORTS),-Wl$(comma)--version-script=$(EXPORTS) \
              -Wl$(comma)-Bsymbolic -Wl$(comma)-z$(comma)noseparate-code) $(EXTRA_LDFLAGS)
EXTRA_CLEAN = $(BUILD) results regression.diffs regression.out convert/output
