/** The audit log. */

import type { Actor, AuditEntry } from '../../src/model/access.ts'

const results: Record<AuditEntry['result'], string> = { ok: 'Done', refused: 'Refused', failed: 'Failed' }

const kinds: Record<Actor['kind'], string> = {
  user: 'person',
  token: 'token',
  local: 'at this machine',
  guest: 'not signed in',
  cli: 'command line',
}

/** What the log's actions begin with. */
const families: readonly { readonly value: string; readonly text: string }[] = [
  { value: 'session.', text: 'Signing in and out' },
  { value: 'setup', text: 'First administrator' },
  { value: 'user.', text: 'People' },
  { value: 'token.', text: 'Tokens' },
  { value: 'queue.', text: 'Discovery queue' },
  { value: 'movement.', text: 'Movements' },
  { value: 'connection.', text: 'Real-time connections' },
  { value: 'receiver.', text: 'Receivers' },
  { value: 'location.', text: 'Locations' },
  { value: 'channel.', text: 'Positions on the wall' },
  { value: 'group.', text: 'Groups' },
  { value: 'performer.', text: 'Performers' },
  { value: 'assignment.', text: 'Assignments' },
  { value: 'settings.', text: 'Settings' },
  { value: 'manufacturer.', text: 'Manufacturers' },
  { value: 'network.', text: 'Scans' },
  { value: 'store.', text: 'The database' },
  { value: 'discovery_list.', text: 'Discovery lists' },
]

export const auditTexts = {
  title: 'Audit log',
  intro: 'Who did what, the newest first. Kept for 90 days, and never edited.',
  list: 'Audit log',
  none: 'Nothing has been done yet',
  noMatch: 'Nothing of the kind',
  filters: { action: 'What', actor: 'Who', result: 'Result', after: 'From', before: 'Before' },
  columns: { at: 'When', actor: 'Who', action: 'What', target: 'To what', result: 'Result', details: 'Details' },
  results,
  kinds,
  families,
  from: (address: string) => `from ${address}`,
} as const
