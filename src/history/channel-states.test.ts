import { beforeEach, expect, it } from 'vitest'
import { openStore } from '../../test/support/store/helpers.ts'
import type { Condition } from '../domain/conditions/condition.ts'
import { type Channel, emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import type { ChannelState } from '../domain/history/channel-state.ts'
import { toDraft } from '../domain/identity/ingest-plan.ts'
import { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Database } from '../storage/database.ts'
import { ChannelStates } from './channel-states.ts'

const startedAt = Date.UTC(2026, 10, 23, 19)

let time = startedAt
let last: ChannelStates | null = null

beforeEach(() => {
  time = startedAt
})

const condition: Condition = { state: 'ok', severity: 'ok', attention: false, since: 5, since_known: true, flags: [] }
const transmitter = { upstream_slot: null, name: 'Nora', battery: 90, audio_level: -20, rf_level: -50, frequency: null }
const channel: Channel = { ...emptyChannel(5, 1, 1), name: 'Vocal', frequency: '470.300', transmitter, condition }
const receiver: Receiver = { ...toDraft('shure', { id: 'a', kind: 'receiver' }, startedAt), id: 1, channels: [channel] }

type StateSubsystems = ConstructorParameters<typeof ChannelStates>[0]

async function open(db?: Database) {
  const receiverStore = new ReceiverStore()
  const own = new Set([1])
  const assignments = new Map<number, NonNullable<ChannelState['assignment']>>()
  let isDown = false
  let isOn = true
  receiverStore.put(receiver)
  const store = db ?? (await openStore('sqlite'))
  const subsystems = {
    db: {
      ...store,
      transaction: (work: Parameters<Database['transaction']>[0]) =>
        isDown ? Promise.reject(new Error('the disk is full')) : store.transaction(work),
    },
    receiverStore,
    conditions: { ownReceivers: () => own, isOwn: (id: number) => own.has(id) },
    cast: {
      assignments: () => [...assignments].map(([channel_id, assignment]) => ({ channel_id, ...assignment })),
    },
    settings: { get: () => ({ HISTORY: isOn }) },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  }
  const states = new ChannelStates(subsystems as unknown as StateSubsystems, () => time)
  last = states
  return {
    db: store,
    states,
    receiverStore,
    own,
    assignments,
    stored: async () => {
      const rows = await store.read.selectFrom('channel_states').selectAll().orderBy('time').execute()
      return rows.map(({ state, ...row }) => ({ ...row, state: state === null ? null : JSON.parse(state) }))
    },
    set isDown(value: boolean) {
      isDown = value
    },
    set isOn(value: boolean) {
      isOn = value
    },
    put: (fields: Partial<Channel>) => receiverStore.put({ ...receiver, channels: [{ ...channel, ...fields }] }),
  }
}

/** Lets time pass, and stores the states every second. */
async function pass(ms: number) {
  const until = time + ms
  for (time += 1000; time <= until; time += 1000) await last?.flush()
  time = until
}

// Conformance: C-12.27.
it('stores the state of a channel without its levels, whenever it changes', async () => {
  const { stored, put, receiverStore, assignments, states } = await open()
  await pass(1000)
  expect(await stored()).toEqual([
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
  expect(await stored()).toHaveLength(1)
  await pass(300)
  put({ transmitter: { ...transmitter, battery: 70, details: { muted: true } } })
  await pass(1000)
  assignments.set(5, { wireless_unit: 3, performer: { id: 2, name: 'Ann' } })
  states.assignmentsChanged()
  await pass(1000)
  expect((await stored()).slice(1)).toMatchObject([
    { time: startedAt + 2300, state: { transmitter: { battery: 70, details: { muted: true } }, assignment: null } },
    { state: { assignment: { wireless_unit: 3 } } },
  ])
})

it('stores nothing at a start if nothing has changed', async () => {
  const { db, stored } = await open()
  await pass(1000)
  await open(db)
  await pass(2000)
  expect(await stored()).toHaveLength(1)
})

it('stores that a channel was removed, and that it exists again', async () => {
  const { stored, receiverStore, own } = await open()
  await pass(1000)
  await pass(500)
  receiverStore.remove(1)
  own.delete(1)
  await pass(1000)
  expect((await stored()).slice(1)).toEqual([{ channel_id: 5, time: startedAt + 1500, state: null }])
  receiverStore.put(receiver)
  own.add(1)
  await pass(1000)
  expect((await stored()).slice(1).map(({ state }) => state?.name ?? null)).toEqual([null, 'Vocal'])
})

// Conformance: C-12.102.
it('stores nothing while HISTORY is false, and what is true then when it is true again', async () => {
  const opened = await open()
  await pass(1000)
  opened.isOn = false
  await pass(1000)
  opened.put({ name: 'Choir' })
  await pass(5000)
  expect(await opened.stored()).toHaveLength(1)
  opened.isOn = true
  await pass(1000)
  expect((await opened.stored()).slice(1)).toMatchObject([{ time: startedAt + 8000, state: { name: 'Choir' } }])
})

it('stores what could not be stored later, and at the end', async () => {
  const opened = await open()
  opened.isDown = true
  await pass(3000)
  opened.put({ name: 'Choir' })
  await pass(1000)
  expect(await opened.stored()).toEqual([])
  opened.isDown = false
  opened.put({ name: 'Guitar' })
  await opened.states.close()
  expect((await opened.stored()).map(({ state }) => state?.name)).toEqual(['Vocal', 'Choir', 'Guitar'])
})

it('ignores receivers that another process evaluates', async () => {
  const { stored, own, put } = await open()
  own.delete(1)
  await pass(1000)
  put({ name: 'Choir' })
  await pass(1000)
  expect(await stored()).toEqual([])
})
