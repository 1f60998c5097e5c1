import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Condition } from '../domain/conditions/condition.ts'
import { type Channel, emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import type { ChannelState } from '../domain/history/channel-state.ts'
import { toDraft } from '../domain/identity/ingest-plan.ts'
import { ReceiverStore } from '../ingest/receiver-store.ts'
import type { StoredChannelState } from '../storage/channel-states.ts'
import { ChannelStates } from './channel-states.ts'

const startedAt = Date.UTC(2026, 10, 23, 19)

// The end of a turn of the event loop is real, because work continues there after its time slice.
const toFake = ['Date', 'performance', 'setTimeout', 'clearTimeout'] as const

beforeEach(() => void vi.useFakeTimers({ now: startedAt, toFake: [...toFake] }))
afterEach(() => void vi.useRealTimers())

const condition: Condition = { state: 'ok', severity: 'ok', attention: false, since: 5, since_known: true, flags: [] }
const transmitter = { upstream_slot: null, name: 'Nora', battery: 90, audio_level: -20, rf_level: -50, frequency: null }
const channel: Channel = { ...emptyChannel(5, 1, 1), name: 'Vocal', frequency: '470.300', transmitter, condition }
const receiver: Receiver = { ...toDraft('shure', { id: 'a', kind: 'receiver' }, startedAt), id: 1, channels: [channel] }

/** `stored` contains what earlier processes stored. */
function open(stored: StoredChannelState[] = []) {
  const receiverStore = new ReceiverStore()
  const own = new Set([1])
  const assignments = new Map<number, NonNullable<ChannelState['assignment']>>()
  let isDown = false
  let isOn = true
  receiverStore.put(receiver)
  const states = new ChannelStates({
    levels: receiverStore.levels,
    ownReceivers: () => own,
    isOwn: (id) => own.has(id),
    isOn: () => isOn,
    receiver: (id) => receiverStore.get(id),
    assignments: () => assignments,
    load: async () => new Map(stored.map(({ channel_id, state }) => [channel_id, state])),
    async save(saved) {
      if (isDown) throw new Error('the disk is full')
      stored.push(...saved)
    },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    now: () => Date.now(),
  })
  states.start()
  return {
    states,
    stored,
    receiverStore,
    own,
    assignments,
    set isDown(value: boolean) {
      isDown = value
    },
    set isOn(value: boolean) {
      isOn = value
    },
    put: (fields: Partial<Channel>) => receiverStore.put({ ...receiver, channels: [{ ...channel, ...fields }] }),
  }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

// Conformance: C-12.27.
it('stores the state of a channel without its levels, whenever it changes', async () => {
  const { stored, put, receiverStore, assignments, states } = open()
  await pass(1000)
  expect(stored).toEqual([
    {
      channel_id: 5,
      time: startedAt + 1000,
      state: {
        name: 'Vocal',
        frequency: '470.300',
        transmitter: { upstream_slot: null, name: 'Nora', battery: 90, frequency: null },
        condition: { state: 'ok', severity: 'ok', attention: false, since: 5, since_known: true },
        last_transmitter: null,
        assignment: null,
      },
    },
  ])
  // The battery and flags are recorded with the levels.
  put({ rf_level: -80, transmitter: { ...transmitter, battery: 80, details: { battery_minutes: 100 } } })
  receiverStore.putConditions({
    ...receiver,
    channels: [{ ...channel, condition: { ...condition, flags: ['rf_fair'] } }],
  })
  await pass(1000)
  expect(stored).toHaveLength(1)
  await pass(300)
  put({ transmitter: { ...transmitter, battery: 70, details: { muted: true } } })
  await pass(1000)
  assignments.set(5, { wireless_unit: 3, performer: { id: 2, name: 'Ann' } })
  states.assignmentsChanged()
  await pass(1000)
  expect(stored.slice(1)).toMatchObject([
    { time: startedAt + 2300, state: { transmitter: { battery: 70, details: { muted: true } }, assignment: null } },
    { state: { assignment: { wireless_unit: 3 } } },
  ])
})

it('stores nothing at a start if nothing has changed', async () => {
  const { stored } = open()
  await pass(1000)
  open(stored)
  await pass(2000)
  expect(stored).toHaveLength(1)
})

it('stores that a channel was removed, and that it exists again', async () => {
  const { stored, receiverStore, own } = open()
  await pass(1000)
  receiverStore.remove(1)
  own.delete(1)
  await pass(1000)
  expect(stored.slice(1)).toEqual([{ channel_id: 5, time: startedAt + 1000, state: null }])
  receiverStore.put(receiver)
  own.add(1)
  await pass(1000)
  expect(stored.slice(1).map(({ state }) => state?.name ?? null)).toEqual([null, 'Vocal'])
})

// Conformance: C-12.102.
it('stores nothing while HISTORY is false, and what is true then when it is true again', async () => {
  const opened = open()
  await pass(1000)
  opened.isOn = false
  await pass(1000)
  opened.put({ name: 'Choir' })
  await pass(5000)
  expect(opened.stored).toHaveLength(1)
  opened.isOn = true
  await pass(1000)
  expect(opened.stored.slice(1)).toMatchObject([{ time: startedAt + 8000, state: { name: 'Choir' } }])
})

it('stores what could not be stored later, and at the end', async () => {
  const opened = open()
  opened.isDown = true
  await pass(3000)
  opened.put({ name: 'Choir' })
  await pass(1000)
  expect(opened.stored).toEqual([])
  opened.isDown = false
  opened.put({ name: 'Guitar' })
  const closing = opened.states.close()
  await pass(10)
  await closing
  expect(opened.stored.map(({ state }) => state?.name)).toEqual(['Vocal', 'Choir', 'Guitar'])
})

it('ignores receivers that another process evaluates', async () => {
  const { stored, own, put } = open()
  own.delete(1)
  await pass(1000)
  put({ name: 'Choir' })
  await pass(1000)
  expect(stored).toEqual([])
})
