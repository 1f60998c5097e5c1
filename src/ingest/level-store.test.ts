import { beforeEach, describe, expect, test } from 'vitest'
import { type Channel, emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import { toDraft } from '../domain/identity/ingest-plan.ts'
import type { LevelSample } from '../domain/levels/level-sample.ts'
import { type LevelRows, LevelStore } from './level-store.ts'

const noTransmitter = { upstream_slot: null, name: null, battery: null, frequency: null }

function receiver(id: number, channels: readonly Channel[]): Receiver {
  const draft = toDraft('shure', { id: `device-${id}`, kind: 'receiver' }, 1000)
  return { ...draft, id, channels }
}

function channel(id: number, number: number, fields: Partial<Channel> = {}): Channel {
  return { ...emptyChannel(id, number, id), ...fields }
}

let store: LevelStore
let record: Receiver
let rows: LevelRows

const apply = (sample: LevelSample) => store.apply(rows, [sample], 5)

beforeEach(() => {
  store = new LevelStore()
  const transmitter = { ...noTransmitter, rf_level: -70, audio_level: null }
  record = receiver(1, [channel(11, 1, { rf_level: -80, transmitter, details: { muted: true } }), channel(12, 4)])
  store.load(record, 0)
  rows = store.rowsOf(1) as LevelRows
})

describe('LevelStore', () => {
  test('adds levels to the record, and keeps the objects of unchanged channels', () => {
    apply({ channel: 1, rf_level: -60, transmitter: { audio_level: -20 }, details: { antennas: 'AC', quality: 80 } })
    const after = store.toRecord(record)
    expect(after.channels[0]).toEqual({
      ...record.channels[0],
      rf_level: -60,
      transmitter: { ...noTransmitter, rf_level: -70, audio_level: -20 },
      details: { muted: true, antennas: 'AC', quality: 80 },
    })
    expect(after.channels[1]).toBe(record.channels[1])
    expect(store.toRecord(after)).toBe(after)
  })

  describe('remembers', () => {
    test('a receiver with levels that are newer than its record, until it changes', () => {
      apply({ channel: 1, rf_level: -60, transmitter: { audio_level: -20 }, details: { antennas: 'A', quality: 80 } })
      const then = store.remember([1, 1, 2])
      store.markReceived(rows, 6, 2000)
      store.setFacts({ ...record, channels: record.channels.map((known) => ({ ...known, forecast: null })) })
      expect([then(1), then(2)]).toEqual([undefined, undefined])
      apply({ channel: 1, rf_level: -50, transmitter: { audio_level: -10 }, details: { antennas: 'B' } })
      expect(then(1)?.channels[0]).toEqual({
        ...record.channels[0],
        rf_level: -60,
        transmitter: { ...noTransmitter, rf_level: -70, audio_level: -20 },
        details: { muted: true, antennas: 'A', quality: 80 },
      })
      expect(then(1)?.channels[1]).toBe(record.channels[1])
    })

    test('the record before it was replaced or removed', () => {
      const then = store.remember([1])
      store.load({ ...record, name: 'B' }, 7)
      expect(then(1)).toEqual(record)
      store.remove(1)
      expect(then(1)).toEqual(record)
      store.load(receiver(2, [channel(21, 1, { rf_level: -40 })]), 8)
      expect(then(1)).toEqual(record)
    })
  })

  test('distinguishes a level that is unknown from one that was never reported', () => {
    apply({ channel: 4, rf_level: null, details: { quality: null, antennas: '' } })
    expect(store.toRecord(record).channels[1]?.details).toEqual({ quality: null, antennas: '' })
  })

  test('ignores the levels of a transmitter that is not known', () => {
    apply({ channel: 4, transmitter: { rf_level: -50 } })
    expect(store.toRecord(record).channels[1]?.transmitter).toBeNull()
  })

  test('applies the encoded levels of another store, except for those that were never reported', () => {
    const other = new LevelStore()
    const transmitter = { ...noTransmitter, rf_level: -60, audio_level: -20 }
    const details = { antennas: 'AC', quality: null }
    other.load(receiver(1, [channel(11, 1, { rf_level: -55, transmitter, details }), channel(13, 2)]), 0)
    const samples: number[] = []
    apply({ channel: 1, details: { audio_rms: -30 } })
    store.listen((row) => void samples.push(row))
    const encoded = other.encode(other.rowsOf(1) as LevelRows)
    expect(store.applyEncoded(rows, encoded, 5)).toBe(true)
    expect(store.toRecord(record).channels).toEqual([
      { ...record.channels[0], rf_level: -55, transmitter, details: { muted: true, ...details, audio_rms: -30 } },
      record.channels[1],
    ])
    expect(samples).toEqual([rows.rows[0]])
    expect(store.takeChanged()).toEqual([rows])
    expect(store.applyEncoded(rows, encoded, 5)).toBe(false)
    expect(store.takeChanged()).toEqual([])
  })

  test('ignores a sample of an unknown channel', () => {
    expect(apply({ channel: 2, rf_level: -50 })).toBe(false)
    expect([store.takeChanged(), store.toRecord(record)]).toEqual([[], record])
  })

  test('lists each receiver with changes once', () => {
    apply({ channel: 1, rf_level: -60 })
    apply({ channel: 1, rf_level: -61 })
    apply({ channel: 4, rf_level: -62 })
    expect([store.takeChanged(), store.takeChanged()]).toEqual([[rows], []])
  })

  test('does not list a receiver whose levels stay the same', () => {
    expect(store.differs(rows, { channel: 1, rf_level: -80 })).toBe(false)
    expect(apply({ channel: 1, rf_level: -80 })).toBe(false)
    expect(store.takeChanged()).toEqual([])
  })

  test('does not change anything when it compares', () => {
    expect(store.differs(rows, { channel: 1, rf_level: -60 })).toBe(true)
    expect([store.takeChanged(), store.toRecord(record)]).toEqual([[], record])
  })

  test('merges the same samples again only after others', () => {
    const listed: readonly LevelSample[] = [{ channel: 1, rf_level: -60 }]
    expect([store.apply(rows, listed, 5), store.apply(rows, listed, 6)]).toEqual([true, false])
    apply({ channel: 1, rf_level: -70 })
    expect([store.apply(rows, listed, 8), store.toRecord(record).channels[0]?.rf_level]).toEqual([true, -60])
    store.load(record, 9)
    expect([store.apply(rows, listed, 10), store.toRecord(record).channels[0]?.rf_level]).toEqual([true, -60])
  })

  test('does not pass the samples of the same report to the listener twice, unless others arrived between', () => {
    const times: number[] = []
    const listed = [{ channel: 1, rf_level: -60 }]
    store.listen((_, at) => times.push(at))
    store.applyReported(rows, listed, 5)
    store.applyReported(rows, listed, 6)
    expect(times).toEqual([5])
    store.apply(rows, [{ channel: 1, rf_level: -50 }], 7)
    store.applyReported(rows, listed, 8)
    expect(times).toEqual([5, 7, 8])
  })

  test('passes every sample to the listener, including equal ones', () => {
    const samples: [number | undefined, number][] = []
    store.listen((row, at) => samples.push([row, at]))
    apply({ channel: 1, rf_level: -60 })
    apply({ channel: 1, rf_level: -60 })
    const [row] = rows.rows
    expect(samples).toEqual([
      [row, 5],
      [row, 5],
    ])
  })

  test('updates the time of the last report without changing levels', () => {
    store.markReceived(rows, 9, 2000)
    const after = store.toRecord(record)
    expect([after.last_seen, after.channels === record.channels, store.takeChanged()]).toEqual([2000, true, []])
  })
})

describe('LevelStore, for several receivers', () => {
  test('keeps the rows of a receiver when its record is loaded again, and takes over the levels of the record', () => {
    apply({ channel: 1, rf_level: -60 })
    store.load({ ...record, name: 'New' }, 7)
    expect([store.rowsOf(1), rows.receivedAt, store.toRecord(record)]).toEqual([rows, 7, record])
  })

  test('keeps levels and the time of the last report when the record is replaced', () => {
    const samples = [{ channel: 1, rf_level: -33 }]
    store.apply(rows, samples, 5)
    const current = store.toRecord(record)
    const named = { ...current, name: 'New' }
    store.setFacts(named)
    expect([rows.facts, store.toRecord(named), store.apply(rows, samples, 6)]).toEqual([named, named, false])
  })

  test('reuses the rows of removed receivers without their levels', () => {
    const used = rows.rows
    store.remove(1)
    expect(store.rowsOf(1)).toBeUndefined()
    const next = receiver(2, [channel(21, 1), channel(22, 2)])
    store.load(next, 0)
    expect([...(store.rowsOf(2)?.rows ?? [])].sort()).toEqual([...used].sort())
    store.markReceived(store.rowsOf(2) as LevelRows, 1, 2000)
    expect(store.toRecord(next).channels).toEqual(next.channels)
  })

  test('keeps the levels of many receivers apart', () => {
    const receivers = Array.from({ length: 100 }, (_, index) => receiver(index + 10, [channel(1000 + index, 1)]))
    for (const each of receivers) store.load(each, 0)
    for (const [index, { id }] of receivers.entries()) {
      store.apply(store.rowsOf(id) as LevelRows, [{ channel: 1, rf_level: -1 - index }], 1)
    }
    const shown = receivers.map((each) => store.toRecord(each).channels[0]?.rf_level)
    expect(shown).toEqual(receivers.map((_, index) => -1 - index))
  })
})
