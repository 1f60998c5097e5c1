import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { openStore } from './support/store/helpers.ts'

/** The tables whose records are in the file. Of events, these are the markers. */
const exportedTables = [
  ...['manufacturers', 'settings', 'groups', 'group_settings', 'locations', 'receivers', 'channels', 'placeholders'],
  ...['performers', 'pictures', 'assignments', 'shows', 'scenes', 'checks', 'silences', 'events'],
  ...['planning_center_services', 'planning_center_token', 'notification_channels', 'notification_rules'],
  ...['frequency_plans', 'frequency_profiles', 'slot_entries'],
]
/** Observations, tables of a place, accounts, logs, and data that only running processes need. */
const excludedTables = [
  ...['users', 'tokens', 'sessions', 'known_browsers', 'failed_tries', 'oidc_logins', 'audit', 'alerts', 'movements'],
  ...['removed_events', 'notification_deliveries', 'notification_delivery_alerts', 'channel_conditions'],
  ...[
    'channel_states',
    'connections',
    'site_connections',
    'discharges',
    'discovered',
    'discovery_queue',
    'removals',
    'unit_removals',
    'sources',
    'units',
  ],
  ...['receiver_sources', 'followed_levels'],
  ...[
    'audio_streams',
    // The ids of audio streams are those of an installation.
    'channel_audio',
    'changes',
    'handovers',
    'scans',
    'measured_scans',
    'country_bands',
    'tv_stations',
    'polls',
    'leases',
    'meta',
    'migrations',
    'undo_records',
    'audio_clips',
    'audio_listeners',
  ],
]

// Conformance: C-12.49.
it('every table is either exported or excluded on purpose', async () => {
  const db = await openStore('sqlite')
  const query = sql<{ name: string }>`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`
  const { rows } = await query.execute(db.read)
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...exportedTables, ...excludedTables].toSorted())
})
