import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { resolveThresholds, type ScopeThresholds } from '../domain/conditions/condition.ts'
import { emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import { toDraft } from '../domain/identity/ingest-plan.ts'
import type { LevelSample } from '../domain/levels/level-sample.ts'
import { ReceiverStore } from '../ingest/receiver-store.ts'
import { Topic } from '../platform/topic.ts'
import type { StoredCondition } from '../storage/channel-states.ts'
import { ConditionMonitor } from './conditions.ts'
import { OwnReceivers } from './own-receivers.ts'
import { StateWriter } from './state-writer.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 10, 22, 19) }))
afterEach(() => void vi.useRealTimers())

const transmitter = {
  upstream_slot: null,
  name: 'Y13 Nora',
  battery: 90,
  audio_level: -20,
  rf_level: -50,
  frequency: null,
}

/** A receiver with one channel, whose transmitter is on. */
function createReceiver(): Receiver {
  const channels = [{ ...emptyChannel(5, 1, 1), transmitter }]
  return { ...toDraft('shure', { id: 'a', kind: 'receiver' }, Date.now()), id: 1, channels }
}

function open(stored: readonly StoredCondition[] = [], receiver = createReceiver()) {
  const receiverStore = new ReceiverStore()
  const published: string[] = []
  const saved = new Map<number, StoredCondition>()
  let scope: ScopeThresholds = {}
  const scopeOfSlot = new Map<number, ScopeThresholds>()
  const lookedUp: number[] = []
  let shows: readonly number[] = []
  let isDown = false
  let sourceReceivedAt = Number.NEGATIVE_INFINITY
  async function save(conditions: readonly StoredCondition[]) {
    if (isDown) throw new Error('the database is not available')
    for (const condition of conditions) if (monitor.isCurrent(condition)) saved.set(condition.channelId, condition)
  }
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const stateWriter = new StateWriter(log)
  stateWriter.connect({ saveState: ({ conditions }) => save(conditions) })
  const settings = {
    thresholds(_: string, slot: number) {
      lookedUp.push(slot)
      return resolveThresholds(scopeOfSlot.get(slot) ?? scope, {}, [])
    },
    pollingIntervalMs: () => 10_000,
  }
  const subsystems = {
    receiverStore,
    ownReceivers: new OwnReceivers(),
    settings,
    lists: { showsOf: () => shows },
    receiverSources: { receivedAt: () => sourceReceivedAt },
    levelAges: { statusOf: () => 'current' },
    forecasts: { changed: new Topic<number>(), reported() {}, forecastOf: () => null },
    stateWriter,
  }
  const monitor: ConditionMonitor = new ConditionMonitor(subsystems as never, () => Date.now())
  monitor.changed.subscribe((changed) => {
    receiverStore.putConditions(changed)
    published.push(...changed.channels.map(({ condition }) => condition.state))
  })
  monitor.open([receiver], stored)
  const conditionOf = () => receiverStore.get(1)?.channels[0]?.condition
  return {
    monitor,
    writer: stateWriter,
    published,
    saved,
    /** The slots for which thresholds were looked up. */
    lookedUp,
    scopeOfSlot,
    condition: conditionOf,
    state: () => conditionOf()?.state,
    /** Receives a report in which these fields of the receiver are new. */
    report(fields: Partial<Receiver> = {}) {
      vi.advanceTimersByTime(1)
      const known = receiverStore.get(1) ?? receiver
      monitor.put(monitor.withReported({ ...known, last_seen: Date.now(), ...fields }))
    },
    sample(sample: Omit<LevelSample, 'channel'>) {
      const rows = receiverStore.levels.rowsOf(1)
      if (rows === undefined) throw new Error('The receiver has no rows.')
      const at = performance.now()
      receiverStore.levels.apply(rows, [{ channel: 1, ...sample }], at)
      receiverStore.levels.markReceived(rows, at, Date.now())
      monitor.watch(1)
    },
    /** Receives something from the source that is no report. */
    keepAlive() {
      sourceReceivedAt = performance.now()
    },
    set(thresholds: ScopeThresholds) {
      scope = thresholds
      monitor.settingsChanged()
    },
    setShows(ids: readonly number[]) {
      shows = ids
      monitor.settingsChanged()
    },
    setDown(value: boolean) {
      isDown = value
    },
  }
}

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('a channel', () => {
  it('is evaluated with a report, before the report is published', () => {
    const { report, state } = open()
    report({ channels: [{ ...emptyChannel(5, 1, 1), transmitter: { ...transmitter, battery: 9 } }] })
    expect(state()).toBe('battery_critical')
  })

  // Conformance: C-10.6.
  it('becomes weak a second after the first weak sample without a further one, and stays weak for 3 s', async () => {
    const { report, sample, state, published } = open()
    report()
    sample({ transmitter: { rf_level: -90 } })
    await wait(990)
    expect(state()).toBe('ok')
    await wait(20)
    expect(state()).toBe('rf_weak')
    sample({ transmitter: { rf_level: -50 } })
    await wait(2900)
    expect(state()).toBe('rf_weak')
    await wait(150)
    expect(state()).toBe('ok')
    // The flag `rf_fair` came with the first weak sample, before the state changed.
    expect(published).toEqual(['ok', 'rf_weak', 'ok'])
  })

  it('is silent at the foot of a scale that ends above -60 dBFS', async () => {
    const { report, sample, set, state } = open([], { ...createReceiver(), device_type: 'ulxd' })
    set({ NO_AUDIO_MINUTES: 1 })
    report()
    for (let seconds = 0; seconds < 60; seconds += 5) {
      sample({ transmitter: { audio_level: -50 } })
      expect(state()).toBe('ok')
      await wait(5000)
    }
    await wait(100)
    expect(state()).toBe('no_audio')
    sample({ transmitter: { audio_level: -49 } })
    await wait(0)
    expect(state()).toBe('ok')
  })

  // Conformance: C-13.13.
  it('needs attention while it is muted during a show', async () => {
    const { report, condition, setShows } = open()
    report({ channels: [{ ...emptyChannel(5, 1, 1), transmitter, details: { muted: true } }] })
    expect(condition()).toMatchObject({ state: 'muted', attention: false })
    const { since } = condition() ?? {}
    setShows([3])
    await wait(30)
    expect(condition()).toMatchObject({ state: 'muted', attention: true, since })
    setShows([])
    await wait(30)
    expect(condition()).toMatchObject({ state: 'muted', attention: false, since })
  })

  // Conformance: C-13.13.
  it.each([
    ['a low battery during a show', 18, [3], [], 'battery_died', 'tx_off'],
    ['a low battery during one of two shows', 18, [3, 4], [4], 'battery_died', 'battery_died'],
    ['a low battery before a show', 18, [], [3], 'tx_off', 'tx_off'],
    ['an empty battery before a show', 8, [], [3], 'battery_died', 'battery_died'],
    ['an empty battery during a show', 8, [3], [], 'battery_died', 'tx_off'],
  ] as const)('that lost a transmitter with %s', async (_name, battery, shows, laterShows, state, laterState) => {
    const { report, state: stateOf, setShows } = open()
    setShows(shows)
    report({ channels: [{ ...emptyChannel(5, 1, 1), transmitter: { ...transmitter, battery } }] })
    report({ channels: [{ ...emptyChannel(5, 1, 1), transmitter: null }] })
    expect(stateOf()).toBe(state)
    setShows(laterShows)
    await wait(30)
    expect(stateOf()).toBe(laterState)
    // Neither the next show nor a further report evaluates the lost transmitter again.
    setShows([5, ...laterShows])
    report()
    expect(stateOf()).toBe(laterState)
    setShows(laterShows)
    report()
    expect(stateOf()).toBe(laterState)
  })

  // Conformance: C-10.7.
  it('becomes stale if nothing is received for three intervals, until something is', async () => {
    const { report, sample, state, condition } = open()
    report()
    await wait(29_900)
    expect(state()).toBe('ok')
    await wait(200)
    expect(condition()).toMatchObject({ state: 'stale', attention: true })
    sample({})
    await wait(30)
    expect(state()).toBe('ok')
  })

  // Conformance: C-10.15.
  it('is not stale while its source sends anything, even if it is no report', async () => {
    const { report, keepAlive, state, published } = open()
    report()
    for (let sent = 0; sent < 5; sent += 1) {
      await wait(15_000)
      keepAlive()
    }
    await wait(29_900)
    expect([state(), published]).toEqual(['ok', []])
    await wait(200)
    expect(state()).toBe('stale')
    await wait(20_000)
    keepAlive()
    await wait(1100)
    expect([state(), published]).toEqual(['ok', ['stale', 'ok']])
    await wait(29_000)
    expect(state()).toBe('stale')
  })

  it('that is offline is not evaluated again when its source sends something', async () => {
    const { report, keepAlive, state, published } = open()
    report({ is_active: false, last_seen: Date.now() - 1 })
    keepAlive()
    await wait(5000)
    expect([state(), published]).toEqual(['receiver_offline', []])
  })

  it('becomes stale if this process alone polls and has received nothing since it started', async () => {
    const { monitor, state } = open()
    await wait(60_000)
    expect(state()).toBe('ok')
    monitor.watchAll()
    await wait(29_900)
    expect(state()).toBe('ok')
    await wait(200)
    expect(state()).toBe('stale')
  })

  it('is evaluated again, with other thresholds, when it has moved to another slot', async () => {
    const { monitor, report, scopeOfSlot, state } = open()
    scopeOfSlot.set(7, { alert_battery_threshold: 95 })
    report()
    await wait(30)
    expect(state()).toBe('ok')
    monitor.put({ ...createReceiver(), last_seen: Date.now(), channels: [{ ...emptyChannel(5, 1, 7), transmitter }] })
    await wait(30)
    expect(state()).toBe('battery_low')
  })

  it('that a report adds is evaluated once', async () => {
    const { report, lookedUp } = open()
    report({ channels: [...createReceiver().channels, { ...emptyChannel(6, 2, 2), transmitter }] })
    await wait(30)
    expect(lookedUp.filter((slot) => slot === 2)).toEqual([2])
  })

  it('is evaluated again when a setting changes', async () => {
    const { report, set, state } = open()
    report()
    set({ alert_battery_threshold: 95 })
    await wait(30)
    expect(state()).toBe('battery_low')
    set({ RF_WEAK_DBM: -40 })
    await wait(1100)
    expect(state()).toBe('rf_weak')
  })

  it('is not evaluated while another process receives the reports of its receiver', async () => {
    const first = open()
    first.report({ channels: [{ ...emptyChannel(5, 1, 1), transmitter: { ...transmitter, battery: 9 } }] })
    await wait(300)
    const condition = first.condition()
    const { monitor, report, state, published, saved } = open()
    report()
    const stored = [...first.saved.values()]
    expect(stored.map((one) => monitor.isCurrent(one))).toEqual([false])
    expect(monitor.load(stored)).toEqual(new Set([1]))
    await wait(120_000)
    expect([state(), published, saved.size]).toEqual(['ok', [], 0])
    const known = monitor.withConditions(createReceiver())
    expect(known.channels[0]?.condition).toEqual(condition)
  })
})

describe('an acknowledged `battery_died`', () => {
  const off = () => ({ channels: [{ ...emptyChannel(5, 1, 1), transmitter: null }] })
  const critical = () => ({ channels: [{ ...emptyChannel(5, 1, 1), transmitter: { ...transmitter, battery: 9 } }] })

  /** Opens a monitor whose channel's battery has died. */
  async function openDied() {
    const opened = open()
    opened.report(critical())
    opened.report(off())
    await wait(300)
    expect(opened.state()).toBe('battery_died')
    return opened
  }

  // Conformance: C-10.14.
  it('ends, is stored and is published at once', async () => {
    const { monitor, report, state, published, saved } = await openDied()
    published.length = 0
    await monitor.acknowledgeDied(5)
    expect([state(), published]).toEqual(['tx_off', ['tx_off']])
    expect(saved.get(5)?.memory.condition.state).toBe('tx_off')
    report(off())
    await wait(1000)
    expect([state(), published]).toEqual(['tx_off', ['tx_off']])
    await monitor.acknowledgeDied(5)
    await monitor.acknowledgeDied(99)
    expect(published).toEqual(['tx_off'])
  })

  it('remains if it cannot be stored', async () => {
    const { monitor, state, setDown } = await openDied()
    setDown(true)
    await expect(monitor.acknowledgeDied(5)).rejects.toThrow('the database is not available')
    expect(state()).toBe('battery_died')
    setDown(false)
    await monitor.acknowledgeDied(5)
    expect(state()).toBe('tx_off')
  })

  // Conformance: C-10.14.
  it('ends in the process that evaluates the receiver, which continues to evaluate it', async () => {
    const owner = await openDied()
    const other = open([...owner.saved.values()], { ...createReceiver(), ...off() })
    expect(other.state()).toBe('battery_died')
    await other.monitor.acknowledgeDied(5)
    expect(other.state()).toBe('tx_off')
    const stored = JSON.parse(JSON.stringify([...other.saved.values()])) as StoredCondition[]
    expect(owner.monitor.load(stored)).toEqual(new Set([1]))
    await wait(30)
    expect(owner.condition()).toEqual(other.condition())
    // Without a further report, only the process that evaluates the receiver notices that nothing is received.
    await wait(60_000)
    expect([owner.state(), other.state()]).toEqual(['stale', 'tx_off'])
  })
})

describe('conditions', () => {
  // Conformance: C-10.8.
  it('are stored within two seconds, and remain after a restart; the time in between is not silence', async () => {
    const low = { channels: [{ ...emptyChannel(5, 1, 1), transmitter: { ...transmitter, battery: 9 } }] }
    const first = open()
    first.report(low)
    const before = first.condition()
    await wait(2000)
    const stored = JSON.parse(JSON.stringify([...first.saved.values()])) as StoredCondition[]
    vi.setSystemTime(Date.now() + 3_600_000)
    const second = open(stored, { ...createReceiver(), ...low })
    expect(second.condition()).toEqual(before)
    second.monitor.watchAll()
    await wait(20_000)
    expect(second.condition()).toEqual(before)
    expect(second.published).toEqual([])
  })

  it('are stored when the database is available again, and when the service stops', async () => {
    const { monitor, writer, report, saved, setDown } = open()
    setDown(true)
    report()
    await wait(2000)
    expect(saved.size).toBe(0)
    setDown(false)
    await wait(1000)
    expect(saved.size).toBe(1)
    saved.clear()
    report({ is_active: false, last_seen: Date.now() - 1 })
    monitor.close()
    await writer.close()
    expect(saved.get(5)?.memory.condition.state).toBe('receiver_offline')
  })

  it('are forgotten with their receiver', async () => {
    const { monitor, report, saved } = open()
    report()
    monitor.remove(createReceiver())
    await wait(1000)
    expect(saved.size).toBe(0)
  })
})
