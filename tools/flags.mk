# The flags of the compiler and of the linker.

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
