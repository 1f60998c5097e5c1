/** The changes from version 0.1.0 to version 1.0.0. */

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { pictureTypeOf } from '../../domain/equipment/picture.ts'
import type { Reader } from '../database.ts'
import { bytesType, type Dialect, idColumn, type Migration } from './migration.ts'

export const version100: Migration = {
  names: [
    '20261123T0340Z-conditions',
    '20261123T0624Z-assignment-roles',
    '20261123T0625Z-group-settings',
    '20261123T0630Z-pictures',
    '20261123T0630Z-placeholders',
    '20261123T0632Z-alert-responses',
    '20261123T0645Z-shows',
    '20261123T0655Z-undo',
    '20261123T1115Z-placeholder-counter',
    '20261123T1310Z-events',
    '20261123T1311Z-channel-states',
    '20261123T1620Z-scenes',
    '20261123T1621Z-checks',
    '20261123T1621Z-planning-center',
    '20261123T1630Z-discharges',
    '20261123T1934Z-notifications',
    '20261123T2310Z-frequencies',
    '20261123T2311Z-scans',
    '20261125T2105Z-oidc',
    '20261125T2115Z-receiver-sources',
    '20261125T2130Z-delivery-counter',
    '20261126T1640Z-sites',
    '20261126T1742Z-site-alerts',
    '20261126T2030Z-reading-counters',
    '20261126T2040Z-followed-levels',
    '20261126T2050Z-site-events',
    '20261127T0010Z-site-connections',
  ],
  statements,
  convert: movePictures,
}

function statements(dialect: Dialect): readonly string[] {
  const id = idColumn(dialect)
  const bytes = bytesType(dialect)
  return [
    // Counters of changes.
    `insert into meta (key, value) values
      ('shows', 0), ('placeholders', 0), ('events', 0), ('checks', 0), ('notifications', 0), ('scans', 0),
      ('receiver_sources', 0), ('notification_deliveries', 0)`,
    ...changesOfEquipment,
    ...equipmentTables(id, bytes),
    ...changesOfAlerts,
    ...alertTables(id),
    ...historyTables(id, bytes),
    ...showTables(id, bytes),
    ...siteTables(id),
    ...changesOfAccess,
  ]
}

const changesOfEquipment = [
  // Each manufacturer has a counter of stored readings, so that transactions of different manufacturers do not wait
  // for each other.
  'alter table receivers add column origin text',
  'alter table receivers add column reading_revision bigint not null default 0',
  'create index receivers_reading_revision on receivers (manufacturer, reading_revision)',
  `insert into meta (key, value) select 'readings:' || manufacturer, 0 from receivers group by manufacturer`,
  'alter table channels add column profile text',
  'alter table groups add column zone text',
  'alter table locations add column zone text',
  'alter table assignments add column role text',
]

function equipmentTables(id: string, bytes: string): readonly string[] {
  return [
    `create table group_settings (
      group_id bigint not null references groups (id) on delete cascade,
      key text not null,
      value text not null,
      primary key (group_id, key)
    )`,
    `create table pictures (
      id text primary key,
      type text not null,
      bytes ${bytes} not null
    )`,
    `create table placeholders (
      ${id},
      slot integer not null unique,
      name text not null,
      kind text not null,
      frequency text,
      note text not null,
      created_at bigint not null
    )`,
    `create table frequency_profiles (
      id text primary key,
      change text not null
    )`,
    `create table receiver_sources (
      receiver_id bigint not null references receivers (id) on delete cascade,
      source text not null,
      primary key (receiver_id, source)
    )`,
    `create table channel_conditions (
      channel_id bigint primary key references channels (id) on delete cascade,
      memory text not null,
      revision bigint not null
    )`,
    'create index channel_conditions_revision on channel_conditions (revision)',
    `create table undo_records (
      ${id},
      created_at bigint not null,
      action text not null,
      changes text not null
    )`,
  ]
}

const changesOfAlerts = [
  // Null for the alerts of version 0.1.0.
  'alter table alerts add column data text',
  'alter table alerts add column acknowledged_by text',
  'alter table alerts add column acknowledged_at bigint',
  'alter table alerts add column note text',
  'alter table alerts add column snoozed_by text',
  'alter table alerts add column snoozed_at bigint',
  'alter table alerts add column snoozed_until text',
  'alter table alerts add column notification_round integer not null default 0',
  'alter table alerts add column site text',
  'alter table alerts add column site_name text',
  'create index alerts_raised_at on alerts (raised_at, id)',
  'create index alerts_channel_id on alerts (channel_id)',
]

function alertTables(id: string): readonly string[] {
  return [
    `create table silences (
      ${id},
      channels text not null,
      groups text not null,
      kinds text not null,
      until bigint not null,
      reason text not null,
      created_by text not null,
      created_at bigint not null
    )`,
    `create table notification_channels (
      ${id},
      name text not null,
      type text not null,
      enabled integer not null,
      config text not null,
      secrets text,
      signing_secret text,
      previous_secret text,
      previous_until bigint
    )`,
    `create table notification_rules (
      ${id},
      name text not null,
      rule text not null
    )`,
    `create table notification_deliveries (
      ${id},
      message_id text not null,
      notification_channel_id bigint,
      rule_id bigint,
      type text not null,
      status text not null,
      attempts integer not null,
      last_error text,
      created_at bigint not null,
      last_attempt_at bigint,
      next_attempt_at bigint,
      sent_at bigint
    )`,
    "create index notification_deliveries_pending on notification_deliveries (created_at) where status = 'pending'",
    'create index notification_deliveries_channel on notification_deliveries (notification_channel_id, id)',
    'create index notification_deliveries_created_at on notification_deliveries (created_at)',
    `create table notification_delivery_alerts (
      delivery_id bigint not null references notification_deliveries (id) on delete cascade,
      alert_id bigint not null,
      kind text not null,
      severity text not null,
      round integer not null,
      primary key (delivery_id, alert_id)
    )`,
    'create index notification_delivery_alerts_alert on notification_delivery_alerts (alert_id)',
  ]
}

/** Except for followed levels, rows are kept after their channel or receiver has been deleted. */
function historyTables(id: string, bytes: string): readonly string[] {
  return [
    `create table events (
      ${id},
      time bigint not null,
      until bigint,
      ends_at bigint not null,
      is_open bigint not null,
      kind text not null,
      severity text not null,
      channel_id bigint,
      receiver_id bigint,
      manufacturer text,
      text text not null,
      data text not null,
      actor text,
      subject text,
      created_revision bigint not null,
      revision bigint not null,
      site text,
      site_name text
    )`,
    'create index events_time on events (time, id)',
    'create index events_channel_id on events (channel_id, time, id)',
    'create index events_receiver_id on events (receiver_id, time, id)',
    'create index events_kind on events (kind, time, id)',
    'create index events_ranges on events (ends_at) where ends_at > time',
    'create index events_subject on events (subject, id) where subject is not null',
    'create index events_open on events (id) where is_open = 1',
    'create index events_revision on events (revision)',
    'create index events_site on events (site, time, id) where site is not null',
    // The deleted markers of the last hour, for other processes.
    'create table removed_events (id bigint primary key, removed_at bigint not null, revision bigint not null)',
    `create table channel_states (
      channel_id bigint not null,
      time bigint not null,
      state text,
      primary key (channel_id, time)
    )`,
    'create index channel_states_time on channel_states (time)',
    `create table discharges (
      channel_id bigint not null,
      started_at bigint not null,
      ended_at bigint,
      kind text not null,
      discharge text not null,
      saved_at bigint not null,
      primary key (channel_id, started_at)
    )`,
    'create index discharges_kind on discharges (kind, ended_at)',
    'create index discharges_saved_at on discharges (saved_at)',
    `create table followed_levels (
      channel_id bigint not null references channels (id) on delete cascade,
      step integer not null,
      start bigint not null,
      until bigint not null,
      kept_at bigint not null,
      levels ${bytes},
      primary key (channel_id, step, start)
    )`,
    'create index followed_levels_kept_at on followed_levels (kept_at)',
  ]
}

function showTables(id: string, bytes: string): readonly string[] {
  return [
    `create table shows (
      ${id},
      title text not null,
      starts_at bigint,
      ends_at bigint,
      group_ids text not null,
      notes text not null,
      started_at bigint,
      ended_at bigint,
      channel_ids text,
      start_frequencies text,
      scenes_revision bigint not null default 0
    )`,
    `create table scenes (
      ${id},
      show_id bigint not null references shows (id) on delete cascade,
      title text not null,
      created_at bigint not null,
      actor text not null,
      recalled_at bigint,
      arrangement text not null
    )`,
    'create index scenes_show_id on scenes (show_id)',
    `create table checks (
      ${id},
      show_id bigint not null references shows (id) on delete cascade,
      channel_id bigint not null,
      began_at bigint,
      checked_at bigint,
      result text,
      note text,
      actor text not null,
      revision bigint not null
    )`,
    'create index checks_show_id on checks (show_id, id)',
    'create index checks_revision on checks (revision)',
    'create table planning_center_token (id bigint primary key, sealed text not null)',
    `create table planning_center_services (
      service_type text primary key,
      name text not null,
      positions text not null,
      plan text,
      loaded_at bigint
    )`,
    `create table scans (
      ${id},
      name text not null,
      format text not null,
      points bigint not null,
      from_khz bigint not null,
      to_khz bigint not null,
      taken_at bigint,
      uploaded_at bigint not null,
      actor text not null,
      levels ${bytes} not null
    )`,
  ]
}

/** The connections to other installations, one for each manufacturer's record. */
function siteTables(id: string): readonly string[] {
  return [
    `create table site_connections (
      ${id},
      manufacturer text not null unique references manufacturers (code) on delete cascade,
      source text not null,
      status text not null,
      transport text not null,
      connected_at bigint,
      disconnected_at bigint,
      last_message_at bigint,
      error_message text,
      error_count integer not null,
      reconnect_attempts integer not null,
      revision bigint not null
    )`,
    'create index site_connections_revision on site_connections (revision)',
  ]
}

const changesOfAccess = [
  'alter table users add column issuer text',
  'alter table users add column subject text',
  'create unique index users_identity on users (issuer, subject)',
  `create table oidc_logins (
      hash text primary key,
      next text,
      expires_at bigint not null
    )`,
  'create index oidc_logins_expires_at on oidc_logins (expires_at)',
]

/** Moves pictures, which were data URLs, to their table. Data URLs in other formats are left unchanged. */
export async function movePictures(query: Reader): Promise<void> {
  const { rows: performers } = await sql<{ id: number }>`
    select id from performers where picture like 'data:%;base64,%' order by id`.execute(query)
  for (const { id: performer } of performers) {
    const { rows } = await sql<{ picture: string }>`select picture from performers where id = ${performer}`.execute(
      query,
    )
    const base64 = rows[0]?.picture.split(';base64,')[1] ?? ''
    const bytes = Buffer.from(base64, 'base64')
    const type = pictureTypeOf(bytes)
    if (type === null) continue
    const id = createHash('sha256').update(bytes).digest('hex').slice(0, 32)
    await sql`insert into pictures (id, type, bytes) values (${id}, ${type}, ${bytes})
      on conflict do nothing`.execute(query)
    await sql`update performers set picture = ${`/api/pictures/${id}`} where id = ${performer}`.execute(query)
  }
}
