import { expect, test } from 'vitest'
import type { Show } from '../shows.ts'
import { listPinnedRanges } from './retention.ts'

const now = 10_000_000
const channels = [
  { id: 1, slot: 1, receiverId: 7 },
  { id: 2, slot: 2, receiverId: 7 },
  { id: 3, slot: 3, receiverId: 8 },
]
const show: Show = {
  id: 1,
  title: 'Gala',
  starts_at: null,
  ends_at: null,
  group_ids: [4],
  notes: '',
  started_at: 5_000_500,
  ended_at: null,
  channel_ids: null,
  scenes_revision: 0,
  version: 1,
}
const nothing = { alerts: [], shows: [], groups: [{ id: 4, slots: [3] }], channels, now }

// Conformance: C-12.28.
test('keeps a minute before and after an alert of a channel, and of all channels of a receiver', () => {
  const alerts = [
    { channel_id: 9, receiver_id: 7, raised_at: 1_000_500, cleared_at: 2_000_500 },
    { channel_id: null, receiver_id: 7, raised_at: 3_000_000, cleared_at: null },
    { channel_id: null, receiver_id: null, raised_at: 3_000_000, cleared_at: null },
  ]
  expect(listPinnedRanges({ ...nothing, alerts })).toEqual([
    { channelId: 9, from: 940, to: 2061 },
    { channelId: 1, from: 2940, to: 10_060 },
    { channelId: 2, from: 2940, to: 10_060 },
  ])
})

test('keeps a show from its start to its end, and a running one until now', () => {
  const shows = [
    show,
    { ...show, ended_at: 6_000_000, channel_ids: [1] },
    { ...show, group_ids: [], ended_at: 6_000_000 },
    { ...show, started_at: null },
  ]
  expect(listPinnedRanges({ ...nothing, shows })).toEqual([
    { channelId: 3, from: 5000, to: 10_000 },
    { channelId: 1, from: 5000, to: 6000 },
    ...[1, 2, 3].map((channelId) => ({ channelId, from: 5000, to: 6000 })),
  ])
})
