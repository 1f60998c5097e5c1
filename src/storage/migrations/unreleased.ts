/** Changes since version 1.0.0. */

import { idColumn, type Migration } from './migration.ts'

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
  {
    names: ['20261128T2200Z-slot-entries'],
    statements: (dialect) => [
      `create table slot_entries (
        ${idColumn(dialect)},
        channel_id bigint unique references channels (id) on delete cascade,
        placeholder_id bigint unique references placeholders (id) on delete cascade,
        label text,
        color text,
        performer bigint references performers (id) on delete set null,
        role text,
        note text,
        planned_frequency text,
        planned_profile text,
        planned_transmitter text,
        spares text not null default '[]',
        version bigint not null
      )`,
      'create index slot_entries_performer on slot_entries (performer)',
      "insert into meta (key, value) values ('versions', 1)",
      `insert into slot_entries (placeholder_id, label, note, planned_frequency, version)
        select id, nullif(name, ''), nullif(note, ''), frequency, 1 from placeholders
        where name <> '' or note <> '' or frequency is not null`,
      `insert into slot_entries (channel_id, performer, role, version)
        select units.channel_id, assignments.performer, assignments.role, 1 from assignments
        inner join units on units.id = assignments.wireless_unit
        where assignments.is_active = 1 and units.channel_id is not null`,
      'alter table placeholders drop column name',
      'alter table placeholders drop column frequency',
      'alter table placeholders drop column note',
    ],
  },
  {
    names: ['20261128T2201Z-undo-list'],
    statements: () => [
      "alter table undo_records add column actor text not null default ''",
      "alter table undo_records add column slots text not null default '[]'",
      'alter table undo_records add column is_undone bigint not null default 0',
    ],
  },
  {
    names: ['20261128T2210Z-list-changes'],
    statements: () => ["insert into meta (key, value) values ('lists', 0)"],
  },
  {
    names: ['20261128T2240Z-packs'],
    statements: () => [
      'alter table units add column upstream_slot bigint',
      // Records removed units for the other processes.
      `create table unit_removals (
        unit_id bigint primary key,
        revision bigint not null
      )`,
      'create index unit_removals_revision on unit_removals (revision)',
    ],
  },
  {
    names: ['20261129T0140Z-cast'],
    statements: () => ["insert into meta (key, value) values ('cast', 0)"],
  },
  {
    names: ['20261129T0215Z-without-names'],
    statements: () => ['alter table notification_channels add column without_names bigint not null default 0'],
  },
  {
    names: ['20261129T0605Z-versions'],
    statements: () =>
      ['groups', 'notification_rules', 'performers', 'shows'].map(
        (table) => `alter table ${table} add column version bigint not null default 1`,
      ),
  },
  {
    names: ['20261129T0610Z-checked-states'],
    statements: () => ['alter table checks add column checked text'],
  },
  {
    names: ['20261129T0620Z-handovers'],
    statements: (dialect) => [
      `create table changes (
        ${idColumn(dialect)},
        at bigint not null,
        actor text not null,
        what text not null,
        target text not null,
        slot bigint,
        title text,
        before text not null,
        after text not null
      )`,
      'create index changes_at on changes (at)',
      // If two requests close the same period, only one of them succeeds.
      `create table handovers (
        ${idColumn(dialect)},
        since bigint not null unique,
        until bigint not null,
        actor text not null,
        note text not null,
        contents text not null
      )`,
    ],
  },
  {
    names: ['20261129T0632Z-more-versions'],
    statements: () => [
      ...['frequency_profiles', 'locations', 'manufacturers', 'notification_channels', 'scans', 'scenes', 'silences']
        .concat('tokens', 'users')
        .map((table) => `alter table ${table} add column version bigint not null default 1`),
      'alter table receivers add column version bigint',
      'alter table events add column version bigint',
      "update events set version = 1 where kind = 'marker' and site is null",
    ],
  },
  {
    names: ['20261129T0640Z-acknowledgements'],
    statements: () => ['alter table alerts add column acknowledgements text'],
  },
  {
    names: ['20261129T0711Z-reused-slots'],
    statements: () => ["insert into meta (key, value) select 'highest_slot', coalesce(max(slot), 0) from channels"],
  },
]
