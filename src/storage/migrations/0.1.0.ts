/** The schema of version 0.1.0. */

import { type Dialect, idColumn, type Migration } from './migration.ts'

export const version010: readonly Migration[] = [
  {
    names: [
      '0001-first-tables',
      '0002-audit',
      '0003-people',
      '0004-places',
      '0005-hardware',
      '0006-alerts',
      '0007-warnings',
      '0008-audit-requests',
      '0009-large-houses',
      '0010-found-devices',
      '0011-unit-details',
    ],
    statements: firstTables,
  },
  // Only databases of the last builds of 0.1.0 have these.
  {
    names: ['0012-receiver-faults'],
    statements: () => ['alter table receivers add column fault text'],
  },
  {
    names: ['0013-device-errors'],
    statements: () => ['alter table sources add column device_errors text'],
  },
]

function firstTables(dialect: Dialect): readonly string[] {
  const id = idColumn(dialect)
  // On SQLite the program defines this function: see `database.ts`.
  const clock = `create function epoch_ms() returns bigint language sql volatile
    as 'select (extract(epoch from clock_timestamp()) * 1000)::bigint'`
  return [
    ...(dialect === 'sqlite' ? [] : [clock]),
    `create table meta (
      key text primary key,
      value bigint not null
    )`,
    // `people` is incremented when permissions are revoked, so that every process detects it; `tries` before every
    // sign-in attempt, which serializes the attempts.
    `insert into meta (key, value) values
      ('revision', 0), ('people', 0), ('tries', 0), ('alerts', 0), ('connections', 0)`,
    ...equipmentTables(id),
    ...reviewTables(id),
    ...monitoringTables(id),
    ...accessTables(id),
  ]
}

function equipmentTables(id: string): readonly string[] {
  return [
    `create table manufacturers (
      code text primary key,
      name text not null,
      plugin text not null,
      api_enabled integer not null,
      config text not null
    )`,
    `create table locations (
      ${id},
      name text not null,
      description text not null,
      parent bigint references locations (id)
    )`,
    'create index locations_parent on locations (parent)',
    `create table receivers (
      ${id},
      manufacturer text not null references manufacturers (code),
      api_device_id text,
      name text not null,
      device_type text not null,
      model text,
      serial_number text,
      serial_key text,
      mac_address text,
      mac_key text,
      ip text,
      subnet_mask text,
      gateway text,
      network_mode text,
      interface_id text,
      description text,
      firmware_version text,
      hosted_firmware_version text,
      is_active integer not null,
      last_seen bigint not null,
      readings text not null,
      revision bigint not null,
      location_id bigint references locations (id),
      is_named_by_hand integer not null default 0,
      unique (serial_key, manufacturer)
    )`,
    'create index receivers_api_device_id on receivers (manufacturer, api_device_id)',
    'create index receivers_mac_key on receivers (mac_key)',
    'create index receivers_ip on receivers (ip)',
    'create index receivers_revision on receivers (revision)',
    'create index receivers_location_id on receivers (location_id)',
    // Records removed receivers for the other processes.
    `create table removals (
      receiver_id bigint primary key,
      revision bigint not null
    )`,
    'create index removals_revision on removals (revision)',
    `create table channels (
      ${id},
      receiver_id bigint not null references receivers (id) on delete cascade,
      channel integer not null,
      slot integer not null unique,
      unique (receiver_id, channel)
    )`,
    `create table units (
      ${id},
      manufacturer text not null references manufacturers (code) on delete cascade,
      channel_id bigint unique references channels (id) on delete cascade,
      receiver_id bigint references receivers (id) on delete cascade,
      api_device_id text,
      name text,
      model text,
      serial_number text,
      device_type text not null,
      battery integer,
      is_online integer not null,
      revision bigint not null,
      details text,
      unique (manufacturer, api_device_id)
    )`,
    'create index units_revision on units (revision)',
    'create index units_receiver_id on units (receiver_id)',
    `create table performers (
      ${id},
      name text not null,
      notes text not null,
      picture text
    )`,
    `create table assignments (
      ${id},
      performer bigint not null references performers (id) on delete cascade,
      wireless_unit bigint not null references units (id) on delete cascade,
      is_active integer not null,
      started_at bigint not null,
      ended_at bigint
    )`,
    'create index assignments_performer on assignments (performer)',
    'create index assignments_wireless_unit on assignments (wireless_unit)',
    'create unique index assignments_active on assignments (wireless_unit) where is_active = 1',
    `create table groups (
      ${id},
      title text not null,
      slots text not null,
      hide_charts integer not null,
      manufacturer text references manufacturers (code) on delete set null
    )`,
  ]
}

/** The discovery queue, movements, and devices found by scans. */
function reviewTables(id: string): readonly string[] {
  return [
    `create table discovery_queue (
      ${id},
      manufacturer text not null references manufacturers (code),
      identity_key text not null,
      api_device_id text not null,
      serial_number text,
      mac_address text,
      ip text,
      device_type text not null,
      status text not null,
      conflict_type text not null,
      is_duplicate integer not null,
      is_ip_conflict integer not null,
      existing_device bigint references receivers (id) on delete set null,
      discovered_at bigint not null,
      metadata text not null,
      reviewed_by bigint,
      reviewed_at bigint,
      revision bigint not null,
      seen text,
      reviewer text,
      unique (manufacturer, identity_key)
    )`,
    'create index discovery_queue_serial_number on discovery_queue (serial_number)',
    'create index discovery_queue_ip on discovery_queue (ip)',
    'create index discovery_queue_status on discovery_queue (status)',
    'create index discovery_queue_discovered_at on discovery_queue (discovered_at)',
    'create index discovery_queue_revision on discovery_queue (revision)',
    `create table movements (
      ${id},
      device bigint not null references receivers (id) on delete cascade,
      old_ip text,
      new_ip text,
      old_location bigint,
      new_location bigint,
      movement_type text not null,
      detected_at bigint not null,
      detected_by text not null,
      reason text not null,
      times_seen integer not null,
      acknowledged integer not null,
      acknowledged_by bigint,
      acknowledger text
    )`,
    'create index movements_device on movements (device)',
    'create index movements_detected_at on movements (detected_at)',
    'create index movements_acknowledged on movements (acknowledged)',
    `create table discovered (
      ${id},
      manufacturer text not null references manufacturers (code) on delete cascade,
      api_device_id text not null,
      serial_number text,
      mac_address text,
      ip text not null,
      device_type text not null,
      channels integer not null,
      discovered_at bigint not null,
      last_seen bigint not null,
      model text,
      address text,
      unique (manufacturer, api_device_id)
    )`,
  ]
}

function monitoringTables(id: string): readonly string[] {
  return [
    `create table connections (
      receiver bigint primary key references receivers (id) on delete cascade,
      manufacturer text not null,
      status text not null,
      transport text not null,
      connected_at bigint,
      disconnected_at bigint,
      last_message_at bigint,
      error_message text,
      error_count integer not null,
      reconnect_attempts integer not null,
      source text,
      revision bigint not null default 0
    )`,
    'create index connections_revision on connections (revision)',
    `create table settings (
      ${id},
      manufacturer text references manufacturers (code) on delete cascade,
      key text not null,
      value text not null
    )`,
    `create unique index settings_of on settings (coalesce(manufacturer, ''), key)`,
    `create table sources (
      source text primary key,
      manufacturer text not null,
      consecutive_failures integer not null,
      error text,
      hold_until bigint not null,
      last_success_at bigint,
      overruns bigint not null default 0,
      warning text
    )`,
    `create table leases (
      source text primary key,
      owner text,
      epoch bigint not null,
      expires_at bigint not null
    )`,
    `create table polls (
      source text primary key,
      asked bigint not null,
      answered bigint not null,
      outcome text
    )`,
    // Alerts are kept after their receiver has been deleted.
    `create table alerts (
      ${id},
      subject text not null,
      kind text not null,
      severity text not null,
      message text not null,
      manufacturer text not null,
      receiver_id bigint,
      channel_id bigint,
      raised_at bigint not null,
      cleared_at bigint,
      revision bigint not null
    )`,
    // At most one open alert per subject, even with several processes.
    'create unique index alerts_open on alerts (subject) where cleared_at is null',
    'create index alerts_revision on alerts (revision)',
    'create index alerts_cleared_at on alerts (cleared_at)',
    'create index alerts_receiver_id on alerts (receiver_id)',
  ]
}

function accessTables(id: string): readonly string[] {
  return [
    `create table audit (
      ${id},
      at bigint not null,
      actor_kind text not null,
      actor_id bigint,
      actor_name text not null,
      address text,
      action text not null,
      target text not null,
      result text not null,
      details text not null,
      request_id text
    )`,
    'create index audit_at on audit (at)',
    'create index audit_action on audit (action)',
    `create table users (
      ${id},
      username text not null,
      username_key text not null unique,
      role text not null,
      password text not null,
      is_active integer not null,
      created_at bigint not null,
      password_changed_at bigint not null,
      last_login_at bigint
    )`,
    `create table sessions (
      hash text primary key,
      user_id bigint not null references users (id) on delete cascade,
      created_at bigint not null,
      expires_at bigint not null,
      last_used_at bigint not null
    )`,
    'create index sessions_user_id on sessions (user_id)',
    `create table tokens (
      ${id},
      name text not null,
      role text not null,
      hash text not null unique,
      created_by bigint references users (id) on delete set null,
      created_at bigint not null,
      expires_at bigint,
      last_used_at bigint,
      last_used_address text
    )`,
    `create table known_browsers (
      hash text not null,
      user_id bigint not null references users (id) on delete cascade,
      last_used_at bigint not null,
      primary key (hash, user_id)
    )`,
    'create index known_browsers_user_id on known_browsers (user_id)',
    // `stranger` identifies the client that made the attempt: its network, or the browser if it is known.
    `create table failed_tries (
      ${id},
      stranger text not null,
      account text not null,
      at bigint not null
    )`,
    'create index failed_tries_stranger on failed_tries (stranger, at)',
    'create index failed_tries_at on failed_tries (at)',
  ]
}
