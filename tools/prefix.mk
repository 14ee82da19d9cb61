# make install prefix=DIRECTORY. Included before PGXS.

# "make install prefix=/opt/extras", as PostgreSQL 18's manual has it: into /opt/extras/share/postgresql and
# /opt/extras/lib/postgresql, without "postgresql" if the prefix has it. PGXS alone ignores the prefix where the packager
# of the server has fixed its directories, as Debian has, and elsewhere looks for the server's headers below it.
ifeq (command line,$(origin prefix))
below      := $(if $(findstring pgsql,$(prefix))$(findstring postgres,$(prefix)),,/postgresql)
into       := $(prefix)
override prefix :=
MAKEOVERRIDES := $(filter-out prefix=%,$(MAKEOVERRIDES))
endif
