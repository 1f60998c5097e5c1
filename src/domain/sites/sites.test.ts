import { expect, test } from 'vitest'
import type { FollowedMessage } from '../../contract/followed-messages.ts'
import { nothingAnnounced, toAnnouncedSites, toCodesThere, toFollowedAssignments, withAnnouncement } from './sites.ts'

const record = { code: 'north', name: 'North', url: 'https://north.example' }
const show = { id: 1, title: 'Matinée', starts_at: '2026-05-01T18:00:00.000Z', ends_at: null, group_ids: [], notes: '' }
const times = { started_at: null, ended_at: null }
const arena = { code: 'arena', name: 'Arena', url: 'https://arena.example', shows: ['Derby'] }

function snapshotWith(data: object): FollowedMessage {
  return { type: 'snapshot', seq: 1, epoch: '', installation: '2', via: [], data } as unknown as FollowedMessage
}

const afterMessages = (...messages: readonly FollowedMessage[]) =>
  toAnnouncedSites(record, messages.reduce(withAnnouncement, nothingAnnounced))

test('the shows of a site are unknown before its first snapshot', () => {
  expect(afterMessages()).toEqual([{ ...record, shows: null }])
})

test('a snapshot contains the running shows and the sites further along the chain', () => {
  expect(afterMessages(snapshotWith({ shows: [{ ...show, ...times, state: 'running' }], sites: [arena] }))).toEqual([
    { ...record, shows: ['Matinée'] },
    { code: 'north/arena', name: 'Arena', url: null, shows: ['Derby'] },
  ])
})

test('an installation of an older version announces no sites', () => {
  expect(afterMessages(snapshotWith({ shows: [] }))).toEqual([{ ...record, shows: [] }])
})

// Conformance: C-18.36.
test('assignments have the ids of the channels here, and the site whose performers they are', () => {
  const ann = { wireless_unit: 5, performer: { id: 2, name: 'Ann' } }
  const bob = { wireless_unit: 6, performer: { id: 3, name: 'Bob' }, site: { code: 'arena', name: 'Arena' } }
  const assignments = [
    { ...ann, channel_id: 11 },
    { ...bob, channel_id: 12 },
    { ...ann, channel_id: 13 },
    { ...ann, channel_id: null },
  ]
  const { assignments: announced } = withAnnouncement(nothingAnnounced, { type: 'assignments', seq: 2, assignments })
  const channelsHere = new Map([
    [11, 21],
    [12, 22],
  ])
  const withoutIds = (name: string) => ({ wireless_unit: null, performer: { id: null, name } })
  expect(toFollowedAssignments(record, announced, (id) => channelsHere.get(id))).toEqual([
    { ...ann, ...withoutIds('Ann'), channel_id: 21, site: { code: 'north', name: 'North' } },
    { ...bob, ...withoutIds('Bob'), channel_id: 22, site: { code: 'north/arena', name: 'Arena' } },
  ])
})

test('messages add and remove shows and sites', () => {
  const empty = snapshotWith({ shows: [], sites: [arena] })
  const started: FollowedMessage = { type: 'show', seq: 2, show: { ...show, ...times, state: 'running' } }
  const changed: FollowedMessage = { type: 'site', seq: 3, ...arena, shows: [] }
  expect(afterMessages(empty, started, changed)).toEqual([
    { ...record, shows: ['Matinée'] },
    { code: 'north/arena', name: 'Arena', url: null, shows: [] },
  ])
  const ended: FollowedMessage = { type: 'show', seq: 4, show: { ...show, ...times, state: 'ended' } }
  const removed: FollowedMessage = { type: 'site_removed', seq: 5, code: 'arena' }
  expect(afterMessages(empty, started, changed, ended, removed)).toEqual([{ ...record, shows: [] }])
})

test('other messages change nothing', () => {
  expect(withAnnouncement(nothingAnnounced, { type: 'tick' })).toBe(nothingAnnounced)
})

test('codes of other records are left out, and the others become those of the followed installation', () => {
  expect(toCodesThere('north', ['north', 'north/arena', 'north/arena/hall', 'northern', 'south/arena'])).toEqual([
    'local',
    'arena',
    'arena/hall',
  ])
})
