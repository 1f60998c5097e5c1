import { describe, expect, it } from 'vitest'
import { parsePushedLevels } from './device-levels.ts'

describe('parsePushedLevels', () => {
  it('returns the levels of channels and transmitters of a message that contains nothing else', () => {
    const fields = {
      type: 'device_update',
      device_id: 'd1',
      channels: [{ channel: 1, audio_level: -20.4, rf_level: 'strong' }],
      transmitters: [{ channel: 2, rf_level: -60 }],
    }
    expect(parsePushedLevels(fields)).toEqual([
      { channel: 1, audio_level: -20, rf_level: null },
      { channel: 2, transmitter: { rf_level: -60, audio_level: undefined } },
    ])
  })

  it.each([
    { status: 'offline', channels: [{ channel: 1, rf_level: -60 }] },
    { channels: [{ channel: 1, rf_level: -60, name: 'Nora' }] },
    { channels: [{ channel: 1, rf_level: -60, transmitter: null }] },
    { transmitters: [{ channel: 1, battery: 40 }] },
    { transmitter: null },
    { channels: [{ rf_level: -60 }] },
    { channels: {} },
    { channels: ['1'] },
    {},
  ])('returns null for %j', (fields) => {
    expect(parsePushedLevels(fields)).toBeNull()
  })
})
