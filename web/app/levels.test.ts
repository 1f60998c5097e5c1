import { describe, expect, it } from 'vitest'
import type { ChannelBody } from '../../src/contract/channels.ts'
import type { LiveMessage } from '../../src/contract/live-messages.ts'
import { createLevelTable } from './levels.ts'

const transmitter = { slot: 1, upstream_slot: null, name: null, battery: 80, forecast: null, frequency: null }
const body: ChannelBody = {
  ...{ id: 11, channel: 1, slot: 1, name: null, frequency: null, audio_level: null, rf_level: -100 },
  transmitter: { ...transmitter, rf_level: -50, audio_level: -20 },
  details: { quality: 90 },
  condition: { state: 'ok', severity: 'ok', attention: false, since: '', since_known: true, flags: [] },
  not_now: null,
}

const levels = (...values: (number | string | null)[][]): LiveMessage => ({ type: 'levels', seq: 1, at: '', values })

function tableOf(channel: ChannelBody) {
  const table = createLevelTable()
  table.set(channel, 1)
  return table
}

describe('the level table', () => {
  it('contains the levels of the transmitter, or those of a channel without one', () => {
    expect(tableOf(body).get(11)).toMatchObject({ rf: -50, audio: -20, details: { quality: 90 }, receivedAt: 1 })
    expect(tableOf({ ...body, transmitter: null }).get(11)).toMatchObject({ rf: -100, audio: null })
  })

  it('reads entries, and values that are left out as null', () => {
    const table = tableOf(body)
    expect(table.read(levels([11, -60, -30, 80], [12, -40]), 2)).toEqual([11, 12])
    expect(table.get(11)).toEqual({ rf: -60, audio: -30, details: { quality: 80 }, receivedAt: 2 })
    expect(table.get(12)).toEqual({ rf: -40, audio: null, details: {}, receivedAt: 2 })
    table.read(levels([11, -60]), 3)
    expect(table.get(11)).toMatchObject({ audio: null, details: { quality: null } })
  })

  it('reads all levels on a connection that contains them', () => {
    const table = tableOf({ ...body, details: { quality: 90, audio_peak: -5, muted: false } })
    table.read(levels([11, -60, -30, 80, -61, -62, null, null, 'AB']), 2)
    expect(table.get(11)?.details).toEqual({
      ...{ quality: 80, rf_a: -61, rf_b: -62, antennas: 'AB', audio_peak: null, muted: false },
    })
  })

  it('reads the RMS level, which is the audio level, if the equipment reports it', () => {
    const table = tableOf({ ...body, details: { audio_rms: -20 } })
    table.read(levels([11, -60, -30]), 2)
    expect(table.get(11)?.details).toEqual({ audio_rms: -30 })
    table.read(levels([11, -60]), 3)
    expect(table.get(11)?.details).toEqual({ audio_rms: null })
  })

  it('reads the levels of a channel whose transmitter has turned off', () => {
    const table = tableOf(body)
    const gone = { transmitter: null, rf_level: -110, audio_level: null }
    expect(table.read({ type: 'channel', seq: 1, id: 11, receiver_id: 1, ...gone }, 2)).toEqual([])
    expect(table.get(11)).toMatchObject({ rf: -110, audio: null })
    table.read({ type: 'channel', seq: 2, id: 11, receiver_id: 1, details: { rf_percent: 40 } }, 3)
    expect(table.get(11)).toMatchObject({ rf: -110, details: { rf_percent: 40 } })
    table.read({ type: 'channel_removed', seq: 3, id: 11, receiver_id: 1 }, 4)
    expect(table.get(11)).toBeUndefined()
  })
})
