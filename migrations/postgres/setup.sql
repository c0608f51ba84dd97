-- The roles and the schema of a shared database (postgres#roles). `colibri postgres setup` runs it as the database's owner or
-- as a superuser; with `--print` it only prints it. It may run again: it creates what is missing and takes nothing away but rights.
--
--   colibri_owner  owns the tables; migrations run under it
--   colibri_app    what a server may do; the last part of each migration grants it
--   colibri_read   reads only: COLIBRI_MODE=READONLY, `colibri verify`, auditors
--
-- None of them can log in. Give each machine a login role of its own:
--   CREATE ROLE laptop LOGIN PASSWORD '...' IN ROLE colibri_app;

DO $setup$
DECLARE
  role text;
BEGIN
  IF current_setting('server_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'this database is in %, and Colibri needs UTF8', current_setting('server_encoding')
      USING HINT = 'Create a database for Colibri with ENCODING ''UTF8'' TEMPLATE template0.';
  END IF;
  FOREACH role IN ARRAY ARRAY['colibri_owner', 'colibri_app', 'colibri_read'] LOOP
    IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = role) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', role);
    END IF;
  END LOOP;
  -- The role that sets the schema up migrates it later. A superuser needs no membership.
  IF NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT colibri_owner TO %I', current_user);
  END IF;
END
$setup$;

CREATE SCHEMA IF NOT EXISTS colibri AUTHORIZATION colibri_owner;
REVOKE ALL ON SCHEMA colibri FROM PUBLIC;
-- USAGE, never CREATE: a server creates nothing.
REVOKE ALL ON SCHEMA colibri FROM colibri_app, colibri_read;
GRANT USAGE ON SCHEMA colibri TO colibri_app, colibri_read;
