import { describe, expect, it } from 'vitest'
import { emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import { announcedCount, LevelStore, noLevel } from '../ingest/level-store.ts'
import { LevelBatch } from './level-batch.ts'

const none = noLevel
const rows = [
  ...[-60, -20, 90, none, none, none, none, none, none],
  ...[-61, none, none, -61, none, none, none, 0b11, -6],
  ...[none, none, none, none, none, none, none, none, none],
]

function read(frame: Buffer | null): unknown {
  return frame === null ? null : JSON.parse(String(frame)).values
}

describe('a level batch', () => {
  it('serializes entries without the nulls at their ends', () => {
    const batch = new LevelBatch([1, 2, 3], rows, { isFull: true })
    const head = { seq: 7, at: 'now' }
    expect(String(batch.toFrame({ ...head, isFull: false }))).toBe(
      '{"type":"levels","seq":7,"at":"now","values":[[1,-60,-20,90],[2,-61],[3]]}',
    )
    expect(read(batch.toFrame({ ...head, isFull: true }))).toEqual([
      [1, -60, -20, 90],
      [2, -61, null, null, -61, null, null, null, 'AB', -6],
      [3],
    ])
  })

  it('serializes only the included channels, and returns null if there is none', () => {
    const batch = new LevelBatch([1, 2, 3], rows, { isFull: false })
    const head = { seq: 7, at: 'now', isFull: true }
    expect(read(batch.toFrame(head, (id) => id === 2))).toEqual([[2, -61]])
    expect(batch.toFrame(head, () => false)).toBeNull()
  })
})

describe('the announced levels of a channel', () => {
  const receiver = { id: 1, manufacturer: 'shure', last_seen: 0 } as Receiver
  const transmitter = {
    upstream_slot: null,
    name: null,
    battery: null,
    rf_level: -60,
    audio_level: null,
    frequency: null,
  }

  function announced(channel: Partial<Receiver['channels'][number]>): readonly number[] {
    const store = new LevelStore()
    store.load(
      { ...receiver, channels: [{ ...emptyChannel(10, 1, 1), rf_level: -90, audio_level: -30, ...channel }] },
      0,
    )
    const levels = new Int16Array(announcedCount)
    const known = store.rowsOf(1)
    if (known === undefined) throw new Error('the receiver is not in the store')
    store.readAnnounced(known, 0, levels)
    return [...levels]
  }

  it('are those of the transmitter, if there is one and it reports them', () => {
    expect(announced({}).slice(0, 2)).toEqual([-90, -30])
    expect(announced({ transmitter }).slice(0, 2)).toEqual([-60, -30])
  })

  it('include the levels in the details', () => {
    expect(announced({ details: { quality: 80, antennas: 'AB', audio_peak: null, rf_percent: 40 } })).toEqual([
      ...[-90, -30, 80, none, none, none, none, 0b11, none, 40],
    ])
  })
})
