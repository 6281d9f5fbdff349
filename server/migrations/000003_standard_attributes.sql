-- Attributes that were stored under the names of the data API move to the names of the standard attributes (decision 0070):
-- `email` becomes `u_em`, so that selectors, filters and templates find it. From now on they are stored so at once.
--
-- Where a user has both, the standard attribute stays. Readers need no second name, which would cost each lookup a second
-- search of the index. The update scans all users once and writes only those with such a name; on a cluster every shard does
-- so by itself, because the expression needs no other table. Within `case` a cluster allows only functions that are immutable, as
-- jsonb_set is and jsonb_build_object is not.
--
-- Row-level security holds the owner too, so it is lifted for the transaction. That locks both tables while they are scanned,
-- about a second for a million users.

alter table users no force row level security;
alter table identifiers no force row level security;

update users
set attributes =
  case when attributes ? 'name' then jsonb_set('{}', '{u_n}', attributes -> 'name') else '{}' end
  || case when attributes ? 'first_name' then jsonb_set('{}', '{u_fn}', attributes -> 'first_name') else '{}' end
  || case when attributes ? 'last_name' then jsonb_set('{}', '{u_ln}', attributes -> 'last_name') else '{}' end
  || case when attributes ? 'email' then jsonb_set('{}', '{u_em}', attributes -> 'email') else '{}' end
  || case when attributes ? 'mobile' then jsonb_set('{}', '{u_mb}', attributes -> 'mobile') else '{}' end
  || case when attributes ? 'gender' then jsonb_set('{}', '{u_gd}', attributes -> 'gender') else '{}' end
  || case when attributes ? 'dob' then jsonb_set('{}', '{u_bd}', attributes -> 'dob') else '{}' end
  || case when attributes ? 'birthday' then jsonb_set('{}', '{u_bd}', attributes -> 'birthday') else '{}' end
  || (attributes - array['name', 'first_name', 'last_name', 'email', 'mobile', 'gender', 'dob', 'birthday'])
where attributes ?| array['name', 'first_name', 'last_name', 'email', 'mobile', 'gender', 'dob', 'birthday'];

-- Identifiers follow: first those whose standard attribute has a value of its own, then the others.
delete from identifiers
where attribute in ('name', 'first_name', 'last_name', 'email', 'mobile', 'gender', 'dob', 'birthday')
  and exists (
    select from identifiers as other
    where other.workspace_id = identifiers.workspace_id and other.bucket = identifiers.bucket
      and other.user_id = identifiers.user_id
      and (
        identifiers.attribute = 'name' and other.attribute = 'u_n'
        or identifiers.attribute = 'first_name' and other.attribute = 'u_fn'
        or identifiers.attribute = 'last_name' and other.attribute = 'u_ln'
        or identifiers.attribute = 'email' and other.attribute = 'u_em'
        or identifiers.attribute = 'mobile' and other.attribute = 'u_mb'
        or identifiers.attribute = 'gender' and other.attribute = 'u_gd'
        or identifiers.attribute = 'dob' and other.attribute = 'u_bd'
        or identifiers.attribute = 'birthday' and other.attribute = 'u_bd'
        or identifiers.attribute = 'dob' and other.attribute = 'birthday'
      )
  );

update identifiers
set attribute = case attribute
    when 'name' then 'u_n'
    when 'first_name' then 'u_fn'
    when 'last_name' then 'u_ln'
    when 'email' then 'u_em'
    when 'mobile' then 'u_mb'
    when 'gender' then 'u_gd'
    when 'dob' then 'u_bd'
    when 'birthday' then 'u_bd'
  end
where attribute in ('name', 'first_name', 'last_name', 'email', 'mobile', 'gender', 'dob', 'birthday');

alter table identifiers force row level security;
alter table users force row level security;
