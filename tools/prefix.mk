
# "make install prefix=/opt/extras", as PostgreSQL 18's manual describes: into /opt/extras/share/postgresql and
# lib/postgresql, without "postgresql" if the prefix has it. Included before PGXS, which would ignore the prefix
# (Debian's packages fix the directories) or look for the server's headers below it.
ifeq (command line,$(origin prefix))
below      := $(if $(findstring pgsql,$(prefix))$(findstring postgres,$(prefix)),,/postgresql)
into       := $(prefix)
override prefix :=
MAKEOVERRIDES := $(filter-out prefix=%,$(MAKEOVERRIDES))
endif
