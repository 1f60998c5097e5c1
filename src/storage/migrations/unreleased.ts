/** Changes since version 1.0.0. */

import type { Migration } from './migration.ts'

export const unreleased: readonly Migration[] = [
  {
    // The unit and step of stored scans are unknown.
    names: ['20261128T1220Z-scan-units'],
    statements: () => [
      'alter table scans add column unit text',
      'alter table scans add column is_calibrated bigint not null default 1',
      'alter table scans add column step_hz bigint',
    ],
  },
  {
    names: ['20261128T1300Z-audit-classes'],
    statements: () => [
      "alter table audit add column class text not null default 'administration'",
      'alter table audit add column count integer not null default 1',
      'alter table audit add column last_at bigint',
      `update audit set class = 'minor'
        where actor_kind in ('guest', 'osc') or action = 'session.kiosk' or action like 'marker.%'`,
      "update audit set class = 'operation' where actor_kind = 'local' and class = 'administration'",
      'create index audit_class on audit (class, id)',
      'create index audit_repeats on audit (action, address, at)',
    ],
  },
  {
    names: ['20261128T1235Z-first-alerts'],
    statements: () => ['alter table alerts add column first text'],
  },
  {
    names: ['20261128T1500Z-silent-sources'],
    statements: () => ['alter table sources add column silent_since bigint'],
  },
]
