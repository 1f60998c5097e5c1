import { expect, test } from 'vitest'
import { buildGroup, buildReceiver } from '../../../test/support/builders.ts'
import type { Group } from '../../contract/groups.ts'
import { emptyChannel } from '../equipment/receiver.ts'
import { type Alert, noData } from './alert.ts'
import { channelsOfAlert, isSilenced, type Silence } from './silences.ts'

const receiver = buildReceiver(7, { channels: [emptyChannel(41, 1, 5), emptyChannel(42, 2, 6)] })
const groups: readonly Group[] = [buildGroup(1, { slots: [5] }), buildGroup(2, { slots: [5, 6] })]
const none = {
  id: 1,
  channels: [],
  groups: [],
  kinds: [],
  until: 0,
  reason: '',
  by: 'local',
  created_at: 0,
  version: 1,
}

const onChannel = { kind: 'rf_weak', receiver_id: 7, channel_id: 41, data: noData } as Alert
const onReceiver = { kind: 'receiver_offline', receiver_id: 7, channel_id: null, data: noData } as Alert
const onSource = { kind: 'upstream_failing', receiver_id: null, channel_id: null, data: noData } as Alert

// Conformance: C-11.10.
test.each<[string, Partial<Silence>, Alert, boolean]>([
  ['its channel', { channels: [41, 99] }, onChannel, true],
  ['another channel', { channels: [42] }, onChannel, false],
  ['a group with its slot', { groups: [1] }, onChannel, true],
  ['a group that does not exist any more', { groups: [9] }, onChannel, false],
  ['its kind', { kinds: ['rf_weak', 'stale'] }, onChannel, true],
  ['another kind', { kinds: ['stale'] }, onChannel, false],
  ['its channel and another kind', { channels: [41], kinds: ['stale'] }, onChannel, false],
  ['its channel and a group without it', { channels: [42], groups: [1] }, onChannel, false],
  ['one channel of its receiver', { channels: [41] }, onReceiver, false],
  ['all channels of its receiver', { channels: [41, 42] }, onReceiver, true],
  ['a group with all channels of its receiver', { groups: [2] }, onReceiver, true],
  ['a channel, for an alert about a source', { channels: [41] }, onSource, false],
  ['its kind, for an alert about a source', { kinds: ['upstream_failing'] }, onSource, true],
])('a silence of %s', (_, silence, alert, expected) => {
  const silences = [{ ...none, ...silence }]
  expect(isSilenced(alert, channelsOfAlert(alert, receiver), { silences, groups })).toBe(expected)
})

test('silences of which none matches do not combine', () => {
  const silences = [
    { ...none, channels: [41], kinds: ['stale' as const] },
    { ...none, channels: [42], kinds: ['rf_weak' as const] },
  ]
  expect(isSilenced(onChannel, channelsOfAlert(onChannel, receiver), { silences, groups })).toBe(false)
})
