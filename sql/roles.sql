-- The roles, the schemas and who may do what. Idempotent: every start of a process that may manage roles applies it, and an
-- administrator may run it by hand in the application's database (psql "$ADMIN_URL" -f sql/roles.sql).
--
-- One role per owner, one for the monolith. An owner sees its own schema and nothing else; the monolith is a member of all four.
-- Passwords are not set here: the process sets them from its settings, or the administrator does (alter role … password).

do $$
declare
  owner text;
  administrator text := current_user;
  is_superuser boolean := (select rolsuper from pg_catalog.pg_roles where rolname = current_user);
begin
  foreach owner in array array['conduit_users', 'conduit_profiles', 'conduit_articles', 'conduit_comments', 'conduit_monolith']
  loop
    if not exists (select from pg_catalog.pg_roles where rolname = owner) then
      execute format('create role %I login', owner);
    end if;
    -- Creating something for a role needs membership in it, which only a superuser has for free.
    if not is_superuser and not pg_catalog.pg_has_role(administrator, owner, 'usage') then
      execute format('grant %I to %I', owner, administrator);
    end if;

    -- A statement is planned once: no plan depends on the values, and the planner costs more than most of our reads
    -- (limit and offset are parameters). Compiling expressions never pays at this size.
    execute format('alter role %I set plan_cache_mode = ''force_generic_plan''', owner);
    execute format('alter role %I set jit = off', owner);
    execute format('alter role %I set timezone = ''UTC''', owner);
    -- Nothing that a request does takes this long; what a lost client left behind is cleaned up.
    execute format('alter role %I set statement_timeout = ''10s''', owner);
    execute format('alter role %I set lock_timeout = ''5s''', owner);
    execute format('alter role %I set idle_in_transaction_session_timeout = ''10s''', owner);
    -- Every statement names its schema, so nothing is found by accident.
    execute format('alter role %I set search_path = ''''', owner);
  end loop;
end
$$;

-- The monolith reads all four areas and migrates each schema as its owner (set role).
grant conduit_users, conduit_profiles, conduit_articles, conduit_comments to conduit_monolith;

create schema if not exists users authorization conduit_users;
create schema if not exists profiles authorization conduit_profiles;
create schema if not exists articles authorization conduit_articles;
create schema if not exists comments authorization conduit_comments;
create schema if not exists monolith authorization conduit_monolith;

-- Nobody but the owners creates anything anywhere: no shared schema, no temporary tables.
do $$
declare
  database text := current_database();
begin
  execute format('revoke all on database %I from public', database);
  execute format(
    'grant connect on database %I to conduit_users, conduit_profiles, conduit_articles, conduit_comments, conduit_monolith',
    database
  );
  revoke all on schema public from public;
exception
  when insufficient_privilege then
    raise notice 'the rights of PUBLIC on database % are left as they are: % may not change them', database, current_user;
end
$$;

-- Large objects belong to no schema, so the right to make them is the right to the functions that do. Only a superuser may
-- take it away; where the administrator is none (a managed database), the notice says so.
do $$
declare
  maker record;
begin
  for maker in
    select p.oid::regprocedure as signature
    from pg_catalog.pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace
      and p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_import', 'lo_open', 'lo_put', 'lo_unlink', 'lowrite', 'lo_truncate', 'lo_truncate64')
    order by 1
  loop
    execute format('revoke execute on function %s from public', maker.signature);
  end loop;
exception
  when insufficient_privilege then
    raise notice 'large objects stay open to PUBLIC: % may not change the rights on their functions', current_user;
end
$$;
