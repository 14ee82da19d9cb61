-- Soft errors, from 16 on. Expected: 15 soft_errors.out, 16 soft_errors_1.out, 17 and newer soft_errors_2.out.
SELECT current_setting('server_version_num')::int < 160000 AS too_old \gset
\if :too_old
\quit
\endif
SELECT type, value, pg_input_is_valid(value, type)
FROM (VALUES ('sno', 'brpk4q72xwf2m63l'), ('sno', 'brpk4q72xwf2m63y'), ('sno', ''), ('gid', '74ggDzh4TZ-33Abx4UEM2PFE'),
             ('gid', '74ggDzh4TZ-33Abx4UEM2PF'), ('gid(log)', '74ggDzh4TZ-33Abx4UEM2PFE'),
             ('gid(volume)', '74ggDzh4TZ-33Abx4UEM2PFE')) AS v (type, value);
SELECT type, e.sql_error_code, e.message, e.detail
FROM (VALUES ('sno', 'brpk4q72xwf2m63y'), ('gid', '74ggDzh4TZ_33Abx4UEM2PFE'), ('gid(volume)', '74ggDzh4TZ-33Abx4UEM2PFE')) AS v (type, value),
     pg_input_error_info(value, type) AS e;
SELECT e.hint FROM (VALUES ('sno', '2026-01-01'), ('gid', '2026-01-01 10:00'), ('gid(log)', 'infinity'), ('sno', '2026')) AS v (type, value), pg_input_error_info(value, type) AS e;
-- COPY can skip what is refused, from 17 on.
SELECT current_setting('server_version_num')::int < 170000 AS too_old \gset
\if :too_old
\quit
\endif
CREATE TEMP TABLE copied (id gid(log), s sno);
COPY copied FROM stdin (ON_ERROR ignore);
74ggDzh4TZ-33Abx4UEM2PFE	brpk4q72xwf2m63l
5rMJNeFjYs-2eDkDiPiLuBbS	brpk4q72xwf2m63l
74ggDzh4TZ-33Abx4UEM2PFE	BRPK4Q72XWF2M63L
\.
SELECT * FROM copied;
