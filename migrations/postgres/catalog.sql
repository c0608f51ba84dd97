-- What the schema colibri consists of, an object a row: its name, and the SHA-256 of everything the catalog knows of it that matters
-- here. Start and `colibri doctor` compare the rows with those of 017_catalog.txt, so that they can name what differs: a dropped
-- trigger, a disabled one, a right too many. The text is the same in PostgreSQL 15 to 18; a test compares it on each.
-- What can change no promise has objects of its own, whose names begin with `index` and `right`: an index that only makes questions
-- faster, and the right of another role to read. A start passes over these, and `colibri doctor` warns of them.
-- Rights of an object's owner are left out, because later versions have more of them.
WITH granted AS (
  SELECT 'n' AS kind, n.oid AS object, 0 AS part, acl.* FROM pg_catalog.pg_namespace AS n, aclexplode(n.nspacl) AS acl
   WHERE acl.grantee <> n.nspowner
  UNION ALL
  SELECT 'c', c.oid, 0, acl.* FROM pg_catalog.pg_class AS c, aclexplode(c.relacl) AS acl WHERE acl.grantee <> c.relowner
  UNION ALL
  SELECT 'c', c.oid, a.attnum, acl.* FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid, aclexplode(a.attacl) AS acl WHERE acl.grantee <> c.relowner
  UNION ALL
  -- Without rights of its own a function may be called by all.
  SELECT 'p', p.oid, 0, acl.* FROM pg_catalog.pg_proc AS p,
         aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS acl WHERE acl.grantee <> p.proowner
),
-- A right to read, of a role of another program's or person's.
reading AS (
  SELECT *, CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END AS reader FROM granted
   WHERE (kind = 'c' AND privilege_type = 'SELECT' OR kind = 'n' AND privilege_type = 'USAGE')
     AND (grantee = 0 OR pg_get_userbyid(grantee) NOT IN ('colibri_owner', 'colibri_app', 'colibri_read'))
),
-- An index that refuses no row, runs no expression, and stands on PostgreSQL's own operators.
helping AS (
  SELECT i.indexrelid, i.indrelid, i.indisvalid, x.relname FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am AS m ON m.oid = x.relam
   WHERE NOT i.indisunique AND NOT i.indisexclusion AND i.indexprs IS NULL AND i.indpred IS NULL
     AND m.amname IN ('btree', 'hash', 'brin', 'gin', 'gist')
     AND NOT EXISTS (SELECT 1 FROM unnest(i.indclass::oid[]) AS used (class) JOIN pg_catalog.pg_opclass AS c ON c.oid = used.class
                      WHERE c.opcnamespace <> 'pg_catalog'::regnamespace)
),
rights AS (
  SELECT kind, object, part, string_agg(
           CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END || ' ' || privilege_type
             || CASE WHEN is_grantable THEN ' on' ELSE '' END,
           ', ' ORDER BY CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END COLLATE "C", privilege_type COLLATE "C"
         ) AS text
    FROM (SELECT * FROM granted EXCEPT SELECT kind, object, part, grantor, grantee, privilege_type, is_grantable FROM reading) AS granted
   GROUP BY kind, object, part
),
parts AS (
  SELECT 'schema' AS sort, n.nspname AS name, 'owner' AS part, pg_get_userbyid(n.nspowner)::text AS text
    FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'colibri'
  UNION ALL
  SELECT 'schema', n.nspname, 'rights', r.text FROM pg_catalog.pg_namespace AS n JOIN rights AS r ON r.kind = 'n' AND r.object = n.oid
   WHERE n.nspname = 'colibri'
  UNION ALL
  SELECT o.sort, o.name, d.part, d.text FROM (
    SELECT c.*, c.relname::text AS name, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence'
           WHEN 'i' THEN 'index' ELSE 'relation' END AS sort
      FROM pg_catalog.pg_class AS c WHERE c.relnamespace = 'colibri'::regnamespace AND c.relkind NOT IN ('i', 't')
  ) AS o CROSS JOIN LATERAL (
    SELECT 'owner' AS part, concat_ws(' ', pg_get_userbyid(o.relowner), o.relkind, o.relpersistence, o.relrowsecurity,
             o.relforcerowsecurity, o.relispartition, CASE o.relkind WHEN 'v' THEN array_to_string(o.reloptions, ',') END) AS text
    UNION ALL
    SELECT 'rights ' || r.part, r.text FROM rights AS r WHERE r.kind = 'c' AND r.object = o.oid
    UNION ALL
    SELECT 'column ' || a.attnum, concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), l.collname, a.attnotnull,
             a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
      FROM pg_catalog.pg_attribute AS a LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
     WHERE a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    -- NOT NULL is a constraint from 18 on; the columns say it already.
    SELECT 'constraint ' || k.conname, concat_ws(' ', pg_get_constraintdef(k.oid), k.convalidated)
      FROM pg_catalog.pg_constraint AS k WHERE k.conrelid = o.oid AND k.contype <> 'n'
    UNION ALL
    SELECT 'index ' || x.relname, concat_ws(' ', pg_get_indexdef(i.indexrelid), i.indisvalid)
      FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
     WHERE i.indrelid = o.oid AND i.indexrelid NOT IN (SELECT indexrelid FROM helping)
    UNION ALL
    SELECT 'trigger ' || t.tgname, concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
      FROM pg_catalog.pg_trigger AS t WHERE t.tgrelid = o.oid AND NOT t.tgisinternal
    UNION ALL
    -- A foreign key is enforced by triggers of its own, which a superuser may disable.
    SELECT 'enforced', string_agg(t.tgenabled::text, '' ORDER BY t.tgenabled)
      FROM pg_catalog.pg_trigger AS t WHERE t.tgrelid = o.oid AND t.tgisinternal HAVING count(*) > 0
    UNION ALL
    SELECT 'rule ' || r.rulename, concat_ws(' ', pg_get_ruledef(r.oid), r.ev_enabled) FROM pg_catalog.pg_rewrite AS r
     WHERE r.ev_class = o.oid
  ) AS d
  UNION ALL
  SELECT 'index', h.relname, 'definition', concat_ws(' ', pg_get_indexdef(h.indexrelid), h.indisvalid) FROM helping AS h
    JOIN pg_catalog.pg_class AS o ON o.oid = h.indrelid WHERE o.relnamespace = 'colibri'::regnamespace AND o.relkind = 'r'
  UNION ALL
  SELECT 'right', concat_ws(' ', r.privilege_type, 'on', o.relname, a.attname, 'for', r.reader), 'on', r.is_grantable::text FROM reading AS r
    JOIN pg_catalog.pg_class AS o ON o.oid = r.object LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = o.oid AND a.attnum = r.part AND r.part > 0
   WHERE r.kind = 'c' AND o.relnamespace = 'colibri'::regnamespace
  UNION ALL
  SELECT 'right', concat_ws(' ', r.privilege_type, 'on the schema for', r.reader), 'on', r.is_grantable::text FROM reading AS r
    JOIN pg_catalog.pg_namespace AS n ON n.oid = r.object WHERE r.kind = 'n' AND n.nspname = 'colibri'
  UNION ALL
  SELECT 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', d.part, d.text
    FROM pg_catalog.pg_proc AS p CROSS JOIN LATERAL (
      SELECT 'owner' AS part, pg_get_userbyid(p.proowner)::text AS text
      UNION ALL
      SELECT 'rights', r.text FROM rights AS r WHERE r.kind = 'p' AND r.object = p.oid
      UNION ALL
      SELECT 'definition', CASE WHEN p.prokind = 'a' THEN 'an aggregate' ELSE pg_get_functiondef(p.oid) END
    ) AS d WHERE p.pronamespace = 'colibri'::regnamespace
  UNION ALL
  SELECT 'type', t.typname, 'owner', pg_get_userbyid(t.typowner)::text FROM pg_catalog.pg_type AS t
   WHERE t.typnamespace = 'colibri'::regnamespace AND t.typrelid = 0 AND t.typelem = 0
  UNION ALL
  SELECT 'operator', o.oid::regoperator::text, 'owner', pg_get_userbyid(o.oprowner)::text FROM pg_catalog.pg_operator AS o
   WHERE o.oprnamespace = 'colibri'::regnamespace
)
SELECT sort || ' ' || name AS object,
       encode(sha256(convert_to(string_agg(part || ': ' || text, E'\n' ORDER BY part COLLATE "C"), 'UTF8')), 'hex') AS digest
  FROM parts GROUP BY sort, name ORDER BY (sort || ' ' || name) COLLATE "C";
