# The objects, the two libraries, and the install scripts. Included after PGXS.

# A change of compiler, server or flags rebuilds all. A server is known by its configuration, because a copy by
# tools/private-install must not rebuild.
FLAGS_STAMP := $(OBJDIR)/flags
SERVER       = $(shell $(PG_CONFIG) --version --configure)
$(FLAGS_STAMP): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(SERVER) $(CXX) $(CXXFLAGS) $(PG_CPPFLAGS) $(SHLIB_LINK) $(OBJS) $(CONVERT_OBJS))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# The headers of PostgreSQL, compiled once: half of the time of most sources
PG_HEADER   := $(OBJDIR)/pg.hpp
$(PG_HEADER).gch: $(FLAGS_STAMP)
	@printf '%s\n' '#include "pg/pg.hpp"' '#include <algorithm>' >$(PG_HEADER)
	$(call run,c++ $(PG_HEADER),$(CXX) $(CXXFLAGS) $(CPPFLAGS) -MF $@.d -x c++-header -o $@ $(PG_HEADER))
$(filter $(OBJDIR)/pg/%,$(OBJS)) $(CONVERT_OBJS): $(PG_HEADER).gch
$(OBJS): $(OBJDIR)/%.o: src/%.cpp $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(call run,c++ $<,$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(if $(filter src/pg/%,$<),-include $(PG_HEADER)) -c -o $@ $<)
$(CONVERT_OBJS): $(OBJDIR)/convert/%.o: convert/src/%.cpp $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(call run,c++ $<,$(CXX) $(CXXFLAGS) $(CPPFLAGS) -include $(PG_HEADER) -c -o $@ $<)
-include $(OBJS:.o=.d) $(CONVERT_OBJS:.o=.d) $(PG_HEADER).gch.d

$(EXTENSION)$(DLSUFFIX): $(FLAGS_STAMP) $(EXPORTS)
$(CONVERT)$(DLSUFFIX): $(CONVERT_OBJS) $(EXPORTS)
	$(LINK.shared) -o $@ $(CONVERT_OBJS) $(LDFLAGS) $(LDFLAGS_SL) $(SHLIB_LINK)
$(BUILD)/exports.list: tools/exports.map
	@mkdir -p $(@D)
	sed -n 's/ *global: *//p' $< | tr -d ' ' | tr ';' '\n' | sed -n 's/^./_&/p' >$@

# $(call assemble,EXTENSION,FRAGMENTS): each time, to see added and removed fragments; written only when it differs. A
# fragment that begins with "For each of: sno:~ mastic:~~" is repeated for each: %ID% is sno, %TICK% is ~.
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
