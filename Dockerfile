# The official image of PostgreSQL with snowflake_ids in it:
#
#   docker build -t postgres-snowflake-ids --build-arg PG_MAJOR=17 .
#
# An image with nothing but the extension, for PostgreSQL 18 and what mounts such images (extension_control_path):
#
#   docker build -t snowflake-ids --build-arg PG_MAJOR=18 --target extension .
#
# tools/try-install docker runs these steps in a chroot.
ARG PG_MAJOR=18

FROM postgres:${PG_MAJOR} AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ make postgresql-server-dev-$PG_MAJOR
COPY . /src
WORKDIR /src
RUN make -j"$(nproc)" PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config \
    && make install PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config DESTDIR=/image \
    && make install PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config datadir=/extension/share pkglibdir=/extension/lib \
    && install -D -m 644 LICENSE /extension/licenses/snowflake-ids/LICENSE

FROM scratch AS extension
LABEL org.opencontainers.image.description="Keys that know their time: rows are found by it, and programs follow changes without losing one."
COPY --from=build /extension/ /
USER 65532:65532

FROM postgres:${PG_MAJOR}
LABEL org.opencontainers.image.description="Keys that know their time: rows are found by it, and programs follow changes without losing one."
COPY --from=build /image/ /
