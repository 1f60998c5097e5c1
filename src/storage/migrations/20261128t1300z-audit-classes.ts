/** Classes of audit records, and repeated actions in one record. The class of earlier records follows from what is known. */
export const name = '20261128T1300Z-audit-classes'

export function statements(): readonly string[] {
  return [
    "alter table audit add column class text not null default 'administration'",
    'alter table audit add column count integer not null default 1',
    'alter table audit add column last_at bigint',
    `update audit set class = 'minor'
      where actor_kind in ('guest', 'osc') or action = 'session.kiosk' or action like 'marker.%'`,
    "update audit set class = 'operation' where actor_kind = 'local' and class = 'administration'",
    'create index audit_class on audit (class, id)',
    'create index audit_repeats on audit (action, address, at)',
  ]
}
