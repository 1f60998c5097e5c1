import { expect, it } from 'vitest'
import { buildGroup, buildReceiver } from '../../test/support/builders.ts'
import { buildTitles } from '../../test/support/titles.ts'
import { type ConditionState, unknownCondition } from './conditions/condition.ts'
import { type Channel, emptyChannel } from './equipment/receiver.ts'
import { toMicboard } from './micboard.ts'

const transmitter = {
  upstream_slot: null,
  name: 'HH01 Ana',
  battery: 61,
  audio_level: -12,
  rf_level: -60,
  frequency: '540.000',
  details: { gain_db: 6 },
}

function convert(fields: Partial<Channel>) {
  const channels = [{ ...emptyChannel(11, 1, 5), ...fields }]
  return toMicboard([buildReceiver(1, { ip: '10.0.0.1', channels })], { groups: [], titleOf: buildTitles(), url: '' })
    .receivers[0]?.tx[0]
}

// Conformance: C-16.70.
it('has the fields of micboard', () => {
  const channel = { ...emptyChannel(11, 1, 5), transmitter, details: { antennas: 'A', quality: 81 } }
  const receivers = [buildReceiver(1, { ip: '10.0.0.1', channels: [channel] }), buildReceiver(2, { is_active: false })]
  const groups = [buildGroup(3, { title: 'Leads', slots: [5], hide_charts: true })]
  const titleOf = buildTitles({ 11: 'Nora' })
  expect(toMicboard(receivers, { groups, titleOf, url: 'https://mics.example/' })).toEqual({
    receivers: [
      {
        ip: '10.0.0.1',
        type: 'ulxd',
        status: 'CONNECTED',
        raw: {},
        tx: [
          {
            id: '11',
            channel: 1,
            slot: 5,
            name: 'Nora',
            name_raw: 'HH01 Ana',
            type: 'ulxd',
            status: 'GOOD',
            battery: 4,
            rf_level: 50,
            audio_level: 80,
            quality: 5,
            antenna: 'AX',
            frequency: '540.000',
            tx_offset: 6,
            raw: {},
          },
        ],
      },
      { ip: '', type: 'ulxd', status: 'DISCONNECTED', raw: {}, tx: [] },
    ],
    url: 'https://mics.example/',
    gif: [],
    jpg: [],
    mp4: [],
    config: {
      slots: [{ slot: 5, ip: '10.0.0.1', type: 'ulxd', channel: 1 }],
      groups: [{ group: 3, title: 'Leads', slots: [5], hide_charts: true }],
    },
    discovered: [],
  })
})

// Conformance: C-16.71.
it('scales levels and batteries, and uses 255 and 0 for what is unknown', () => {
  expect(convert({})).toMatchObject({ battery: 255, rf_level: 0, audio_level: 0, quality: 255, tx_offset: 255 })
  expect(convert({ rf_level: -120, audio_level: -90 })).toMatchObject({ rf_level: 0, audio_level: 0 })
  expect(convert({ rf_level: 0, audio_level: 3 })).toMatchObject({ rf_level: 100, audio_level: 100 })
  const bars = [0, 1, 20, 21, 100].map((battery) => convert({ transmitter: { ...transmitter, battery } })?.battery)
  expect(bars).toEqual([0, 1, 1, 2, 5])
})

// Conformance: C-16.71.
it.each([
  ['battery_critical', 'CRITICAL'],
  ['battery_died', 'CRITICAL'],
  ['battery_low', 'REPLACE'],
  ['receiver_offline', 'RX_COM_ERROR'],
  ['stale', 'RX_COM_ERROR'],
  ['tx_off', 'TX_COM_ERROR'],
  ['muted', 'GOOD'],
  ['ok', 'GOOD'],
] as const)('maps %s to %s', (state: ConditionState, status) => {
  expect(convert({ condition: { ...unknownCondition, state } })?.status).toBe(status)
})
