/** The log of events, with states and samples as a process reports them, and a real database. */

import { describe, expect, it } from 'vitest'
import { buildReceiver } from '../../test/support/builders.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { timeLimit } from '../../test/support/time-limit.ts'
import { buildSlotRecords } from '../../test/support/titles.ts'
import type { ConditionMonitor } from '../conditions/conditions.ts'
import type { Settings } from '../contract/settings.ts'
import { resolveThresholds, unknownCondition } from '../domain/conditions/condition.ts'
import { createWatchedValues } from '../domain/conditions/level-watch.ts'
import { type Channel, emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import type { EventChange } from '../domain/events/event.ts'
import { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import { now } from '../platform/clock.ts'
import type { Database } from '../storage/database.ts'
import { listEvents } from '../storage/events.ts'
import { EventLog } from './event-log.ts'

const thresholds = resolveThresholds({}, {}, [])
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const transmitter = { upstream_slot: null, name: 'Nora', battery: 90, audio_level: -20, rf_level: -50, frequency: null }
const on: Channel = { ...emptyChannel(5, 1, 1), transmitter }
const off: Channel = { ...on, transmitter: null }
const withRow = (state: Channel['condition']['state']): Channel => ({
  ...on,
  condition: { ...unknownCondition, state },
})

/** Returns a subsystem that has only these methods. */
const fake = <Subsystem>(methods: Partial<Subsystem>) => methods as Subsystem

/** Opens the log of one process; the receiver has one channel, whose state is set by `report`. */
async function openLog(db: Database, channel: Channel, { transaction = db.transaction } = {}) {
  let receiver: Receiver | undefined = buildReceiver(1, { channels: [channel] })
  let isOwn = false
  let trueUntil = Number.NEGATIVE_INFINITY
  const announced: EventChange[] = []
  const events = new EventLog({
    db: { ...db, transaction },
    receiverStore: fake<ReceiverStore>({
      get: () => receiver,
      facts: () => receiver,
      lastReceivedAt: () => performance.now(),
    }),
    slotRecords: buildSlotRecords(new ReceiverStore()),
    conditions: fake<ConditionMonitor>({
      isOwn: () => isOwn,
      thresholdsOf: () => thresholds,
      rowTrueUntil: () => trueUntil,
    }),
    settings: fake<EffectiveSettings>({ get: () => ({ HISTORY_MINUTES_DAYS: 400 }) as Settings }),
    log,
  })
  events.changed.subscribe((change) => announced.push(change))
  events.receiverChanged(1)
  await events.open()
  const values = { ...createWatchedValues(), hasTransmitter: true }
  return {
    events,
    announced,
    report(reported: Channel, isActive = true) {
      isOwn = true
      const last_seen = isActive ? now() : receiver?.last_seen
      receiver = buildReceiver(1, { channels: [reported], is_active: isActive, ...(last_seen && { last_seen }) })
      events.receiverChanged(1)
    },
    /** The cause of the condition ended at this time; the condition is held. */
    endCause(at: number) {
      trueUntil = at
    },
    remove() {
      receiver = undefined
      events.receiverChanged(1)
    },
    sample: (rf: number, at: number, hasTransmitter = true) =>
      events.sampled({ channelId: 5, receiverId: 1, values: { ...values, rf, hasTransmitter }, thresholds, at }),
  }
}

async function kinds(db: Database): Promise<readonly string[]> {
  const events = await listEvents(db.read, {}, { limit: 100 })
  return events.map(({ kind, is_open }) => (is_open ? `${kind} (open)` : kind)).reverse()
}

describe('the log of events', () => {
  // Conformance: C-12.41.
  it('contains an event once if two processes detect it', async () => {
    const db = await openStore('sqlite')
    const processes = [await openLog(db, off), await openLog(db, off)]
    for (const state of [on, withRow('interference'), off]) {
      for (const { report } of processes) report(state)
      await Promise.all(processes.map(({ events }) => events.flush()))
    }
    expect((await kinds(db)).toSorted()).toEqual(['interference', 'transmitter_off', 'transmitter_on'])
  })

  it('contains nothing of a receiver that another process evaluates', async () => {
    const db = await openStore('sqlite')
    const { events, sample } = await openLog(db, on)
    events.receiverChanged(1)
    sample(-100, performance.now() - 5000)
    await events.close()
    expect(await kinds(db)).toEqual([])
  })

  // Conformance: C-12.43.
  it('closes after a restart what is no longer true, and continues what is', async () => {
    const db = await openStore('sqlite')
    const first = await openLog(db, on)
    first.report(withRow('clipping'))
    await first.events.close()
    expect(await kinds(db)).toEqual(['clipping (open)'])
    const second = await openLog(db, withRow('clipping'))
    second.report(withRow('clipping'))
    await second.events.close()
    expect(await kinds(db)).toEqual(['clipping (open)'])
    // The process was killed after it had stored the condition, and before the event.
    const third = await openLog(db, on)
    third.report(on)
    await third.events.close()
    expect(await kinds(db)).toEqual(['clipping'])
    expect(third.announced).toMatchObject([{ type: 'event_changed', event: { kind: 'clipping', is_open: false } }])
  })

  it('has the time of the cause of clipping, without the time for which the condition is held', async () => {
    const db = await openStore('sqlite')
    const { report, endCause, events } = await openLog(db, on)
    report(withRow('clipping'))
    endCause(performance.now() + 250)
    report(on)
    await events.close()
    const [clipping] = await listEvents(db.read, {}, { limit: 1 })
    expect((clipping?.until ?? 0) - (clipping?.time ?? 0)).toBeGreaterThanOrEqual(249)
  })

  it('does not say that transmitters were switched off when their receiver was lost', async () => {
    const db = await openStore('sqlite')
    const { report, events } = await openLog(db, on)
    report(on)
    report(off)
    report({ ...off, condition: withRow('receiver_offline').condition }, false)
    report(on)
    report(off)
    await events.close()
    expect(await kinds(db)).toEqual(['receiver_offline', 'receiver_online', 'transmitter_off'])
  })

  it('closes a range when its receiver is removed', async () => {
    const db = await openStore('sqlite')
    const { report, remove, events } = await openLog(db, on)
    report(withRow('interference'))
    remove()
    await events.close()
    expect(await kinds(db)).toEqual(['interference'])
  })

  // Conformance: C-12.44.
  it('has the exact times of a dropout', async () => {
    const db = await openStore('sqlite')
    const { report, sample, events } = await openLog(db, on)
    report(on)
    const start = performance.now() - 10_000
    for (const [rf, ms] of [
      [-50, 0],
      [-88, 100],
      [-97, 200],
      [-50, 300],
      [-90, 1200],
      [-50, 1220],
      [-50, 4000],
    ] as const)
      sample(rf, start + ms)
    await events.close()
    const [dropout] = await listEvents(db.read, {}, { limit: 1 })
    expect(dropout).toMatchObject({
      kind: 'rf_dropout',
      data: { seconds: 1.1, lowest_dbm: -97, threshold: thresholds.RF_WEAK_DBM },
      text: '1 Nora: RF dropout of 1.1 s, lowest level -97 dBm',
    })
    expect(Math.abs((dropout?.time ?? 0) - (now() - performance.now() + start + 100))).toBeLessThan(timeLimit(50))
    expect((dropout?.until ?? 0) - (dropout?.time ?? 0)).toBeGreaterThanOrEqual(1119)
  })

  it('is written again when the database is available again, in order', async () => {
    const db = await openStore('sqlite')
    let isDown = true
    const transaction: Database['transaction'] = async (work) => {
      if (isDown) throw new Error('the disk is full')
      return db.transaction(work)
    }
    const { report, events, announced } = await openLog(db, off, { transaction })
    report(on)
    await events.close()
    expect(await kinds(db)).toEqual([])
    report(withRow('clipping'))
    report(off)
    isDown = false
    await events.close()
    expect(await kinds(db)).toEqual(['transmitter_on', 'clipping', 'transmitter_off'])
    expect(announced.map(({ type }) => type)).toEqual(['event', 'event', 'event'])
  })

  it('has the failures of a source, and a recovery only after a failure', async () => {
    const db = await openStore('sqlite')
    const { events } = await openLog(db, on)
    const source = { manufacturer: 'shure', source: 'shure:10.0.0.9', error: 'Connection refused' }
    for (const isFailing of [false, true, true, false]) events.sourceRecorded(source, isFailing)
    events.recordGap({ from: now() - 3000, until: now(), reason: 'off' })
    await events.close()
    expect((await kinds(db)).toSorted()).toEqual(['recording_gap', 'source_failing', 'source_recovered'])
    const [failing] = await listEvents(db.read, { kinds: ['source_failing'] }, { limit: 1 })
    expect(failing?.text).toBe('shure failed (10.0.0.9): Connection refused')
  })
})
