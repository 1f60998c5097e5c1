/** The changes from version 1.0.0 to version 1.1.0. */

import { idColumn, type Migration } from './migration.ts'

export const version110: readonly Migration[] = [
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
  {
    names: ['20261129T1100Z-sessions-and-codes'],
    statements: () => [
      'alter table sessions add column address text',
      'alter table sessions add column agent text',
      'alter table users add column has_totp bigint not null default 0',
      'alter table users add column totp_secret text',
      'alter table users add column totp_step bigint',
      "alter table users add column recovery_codes text not null default '[]'",
    ],
  },
  {
    names: ['20261129T1850Z-acknowledge-links'],
    statements: () => ['alter table notification_channels add column acknowledge_key text'],
  },
  {
    names: ['20261129T1900Z-receiver-details'],
    statements: () => ['alter table receivers add column details text'],
  },
  {
    names: ['20261130T0115Z-measured-scans'],
    statements: () => [
      `create table measured_scans (
        id bigint primary key,
        options text not null,
        version bigint not null
      )`,
    ],
  },
  {
    names: ['20261130T0610Z-frequency-plans'],
    statements: (dialect) => [
      `create table frequency_plans (
        ${idColumn(dialect)},
        title text not null,
        show_id bigint references shows (id) on delete set null,
        region text not null,
        carriers text not null,
        spares text not null,
        options text not null,
        conflicts text not null,
        conflict_count bigint not null,
        actor text not null,
        created_at bigint not null,
        used_at bigint,
        version bigint not null
      )`,
      'create index frequency_plans_show_id on frequency_plans (show_id)',
      "insert into meta (key, value) values ('plans', 0)",
    ],
  },
  {
    names: ['20261130T0625Z-places'],
    statements: () => [
      `create table country_bands (
        country text primary key,
        bands text not null,
        edited_at bigint not null,
        actor text not null
      )`,
      `create table tv_stations (
        id bigint primary key,
        stations text not null,
        imported_at bigint not null
      )`,
    ],
  },
  {
    names: ['20261130T1112Z-granted-permissions'],
    statements: () =>
      ['users', 'tokens'].map((table) => `alter table ${table} add column permissions text not null default '[]'`),
  },
  {
    names: ['20261130T1116Z-not-now'],
    statements: () => ['alter table channels add column not_now text'],
  },
  {
    names: ['20261130T1118Z-channel-audio'],
    statements: () => [
      `create table channel_audio (
        channel_id bigint primary key references channels (id) on delete cascade,
        stream_id bigint not null,
        channel bigint not null,
        label text
      )`,
    ],
  },
  {
    names: ['20261130T1118Z-spare-receivers'],
    statements: () => ['alter table receivers add column is_spare bigint not null default 0'],
  },
  {
    names: ['20261130T1135Z-audio-streams'],
    statements: (dialect) => [
      `create table audio_streams (
        ${idColumn(dialect)},
        key text unique,
        name text not null,
        source text not null,
        interface text,
        encoding text not null,
        sample_rate bigint not null,
        channels bigint not null,
        payload_type bigint,
        labels text not null,
        legs text not null,
        device text,
        origin text,
        enabled bigint not null,
        is_edited bigint not null,
        version bigint not null
      )`,
    ],
  },
  {
    names: ['20261130T1135Z-places-of-locations'],
    statements: () => [
      'alter table locations add column country text',
      'alter table locations add column latitude text',
      'alter table locations add column longitude text',
    ],
  },
  {
    names: ['20261130T1138Z-audio-clips'],
    statements: (dialect) => [
      `create table audio_clips (
        ${idColumn(dialect)},
        channel_id bigint not null,
        event_ids text not null,
        began_at bigint not null,
        ended_at bigint not null,
        size bigint not null,
        faults text not null,
        lost_packets bigint not null,
        file text not null
      )`,
      'create index audio_clips_began_at on audio_clips (began_at)',
    ],
  },
  {
    names: ['20261130T1545Z-audio-listeners'],
    statements: () => [
      'create table audio_listeners (node text primary key, listeners text not null)',
      "insert into meta (key, value) values ('listeners', 0)",
    ],
  },
]
