import { describe, expect, it, onTestFinished } from 'vitest'
import { buildGroup } from '../../test/support/builders.ts'
import type { SilenceBody } from '../contract/alerts.ts'
import type { ConfigBody } from '../contract/configuration.ts'
import type { Group } from '../contract/groups.ts'
import type { ScanBody } from '../contract/scans.ts'
import { defaultSettings } from '../contract/settings.ts'
import type { QueueEntry, QueueStatus } from '../domain/equipment/discovery.ts'
import { emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import type { LevelSample } from '../domain/levels/level-sample.ts'
import type { SettingScope } from '../domain/settings.ts'
import { ReceiverStore } from '../ingest/receiver-store.ts'
import { type JournalEntry, LiveJournal } from './live-journal.ts'
import type { LiveLists } from './live-lists.ts'
import { LivePublisher } from './live-publisher.ts'

const receiver = (id: number, over: Partial<Receiver> = {}): Receiver => ({
  ...{ id, manufacturer: 'shure', name: `Rack ${id}`, device_type: 'ulxd', model: null, serial_number: null },
  ...{ mac_address: null, ip: null, subnet_mask: null, gateway: null, network_mode: null, interface_id: null },
  ...{ description: null, firmware_version: null, hosted_firmware_version: null, api_device_id: `d${id}` },
  ...{ is_active: true, last_seen: 0, location: null, is_named_by_hand: false },
  channels: [emptyChannel(id * 10, 1, id)],
  ...over,
})

function start() {
  const state = {
    groups: [] as Group[],
    silences: [] as SilenceBody[],
    scans: [] as ScanBody[],
    threshold: 20,
    groupThreshold: null as number | null,
    isEnabled: true,
  }
  const settingsIn = ({ manufacturer, group }: SettingScope): ConfigBody => ({
    ...defaultSettings,
    version: 0,
    alert_battery_threshold: (group === null ? null : state.groupThreshold) ?? state.threshold,
    enable_websocket: manufacturer === null || state.isEnabled,
  })
  const receiverStore = new ReceiverStore()
  const lists = {
    groups: () => state.groups,
    placeholders: () => [],
    audioMappings: () => [],
    listeners: () => null,
    slotRecords: { current: () => new Map() },
    performers: () => [],
    assignments: () => [],
    discovered: () => [],
    silences: () => state.silences,
    scans: () => state.scans,
    planCounter: () => 0,
    frequencyProfiles: () => [],
    settingsIn,
    isBroadcasting: (manufacturer: string | null) => settingsIn({ manufacturer, group: null }).enable_websocket,
    shows: () => [],
    manufacturers: () => ['shure'],
    sources: () => [],
    sites: () => [],
    pending: () => receiverStore.pendingEntries(),
  }
  const journal = new LiveJournal({ ageMs: -1, count: 3 })
  const live: LivePublisher = new LivePublisher(lists as unknown as LiveLists, receiverStore, {
    journal,
    now: () => 0,
  })
  onTestFinished(() => live.close())
  const messages: { readonly [field: string]: unknown }[] = []
  let restarts = 0
  const connect = () => {
    live.synchronize()
    return live.subscribe({
      wantsAllLevels: false,
      deliver: (entries) => void messages.push(...entries.map(toMessage)),
      deliverSweep: () => {},
      restart: () => {
        restarts += 1
      },
    })
  }
  const move = (id: number, slot: number) => {
    const known = receiverStore.get(id) ?? receiver(id)
    receiverStore.put({ ...known, channels: known.channels.map((channel) => ({ ...channel, slot })) })
  }
  const setRfLevel = (id: number, rf_level: number) => {
    const known = receiverStore.get(id) ?? receiver(id)
    receiverStore.put({ ...known, channels: known.channels.map((channel) => ({ ...channel, rf_level })) })
  }
  const publishLevels = (...ids: number[]) =>
    live.levelsChanged(ids.flatMap((id) => receiverStore.levels.rowsOf(id) ?? []))
  const applySample = (id: number, sample: LevelSample) => {
    const rows = receiverStore.levels.rowsOf(id)
    if (rows === undefined) throw new Error(`there is no receiver ${id}`)
    receiverStore.levels.apply(rows, [sample], 0)
    live.levelsChanged([rows])
  }
  return {
    state,
    receiverStore,
    live,
    messages,
    connect,
    move,
    setRfLevel,
    publishLevels,
    applySample,
    restarts: () => restarts,
  }
}

function toMessage(entry: JournalEntry) {
  return JSON.parse(String(entry.type === 'levels' ? entry.levels.toFrame({ ...entry, isFull: false }) : entry.frame))
}

describe('a live publisher', () => {
  it('announces nothing before the first client connects, and everything after that', () => {
    const { receiverStore, live, messages, connect } = start()
    receiverStore.put(receiver(1))
    connect()
    expect(live.journal.seq).toBe(0)
    receiverStore.put(receiver(2))
    receiverStore.put(receiver(1, { name: 'Rack B' }))
    live.synchronize()
    expect(messages).toMatchObject([
      { type: 'receiver_added', seq: 1, receiver: { id: 2 } },
      { type: 'receiver', seq: 2, id: 1, name: 'Rack B' },
    ])
  })

  it('announces changes at the end of the turn of the event loop', async () => {
    const { receiverStore, messages, connect } = start()
    connect()
    receiverStore.put(receiver(1))
    expect(messages).toEqual([])
    await new Promise((resolve) => setImmediate(resolve))
    expect(messages).toMatchObject([{ type: 'receiver_added' }])
  })

  it('announces all moves of a commit in one message', () => {
    const { receiverStore, live, messages, connect, move } = start()
    for (const id of [1, 2]) receiverStore.put(receiver(id))
    connect()
    move(1, 2)
    move(2, 1)
    live.synchronize()
    expect(messages).toEqual([
      {
        type: 'slots',
        seq: 1,
        values: [
          [10, 2],
          [20, 1],
        ],
      },
    ])
  })

  // Conformance: C-10.13.
  it('announces changed settings of every scope, and changed lists as a whole', () => {
    const { state, live, messages, connect } = start()
    connect()
    state.threshold = 30
    state.groups = [buildGroup(1, { title: 'Band', slots: [1] })]
    live.listsChanged()
    live.listsChanged()
    live.synchronize()
    live.listsChanged()
    live.synchronize()
    expect(messages).toEqual([
      { type: 'settings', seq: 1, manufacturer: null, group: null, config: { alert_battery_threshold: 30 } },
      { type: 'settings', seq: 2, manufacturer: 'shure', group: null, config: { alert_battery_threshold: 30 } },
      { type: 'groups', seq: 3, groups: state.groups },
    ])
    messages.length = 0
    state.groupThreshold = 40
    live.listsChanged()
    live.synchronize()
    state.groups = []
    live.listsChanged()
    live.synchronize()
    expect(messages).toEqual([
      { type: 'settings', seq: 4, manufacturer: null, group: 1, config: { alert_battery_threshold: 40 } },
      { type: 'groups', seq: 5, groups: [] },
    ])
  })

  it('announces nothing of a manufacturer whose updates are disabled, and restarts clients when they are enabled', () => {
    const { state, receiverStore, live, messages, connect, restarts } = start()
    receiverStore.put(receiver(1))
    connect()
    state.isEnabled = false
    live.listsChanged()
    live.synchronize()
    expect(messages).toMatchObject([{ type: 'settings', manufacturer: 'shure', config: { enable_websocket: false } }])
    receiverStore.put(receiver(1, { name: 'Rack B' }))
    live.synchronize()
    expect([messages.length, restarts()]).toEqual([1, 0])
    const newest = live.journal.seq
    state.isEnabled = true
    live.listsChanged()
    live.synchronize()
    expect([messages.length, restarts()]).toEqual([1, 1])
    expect([newest, live.journal.seq].map((seq) => live.journal.since(seq))).toEqual([null, []])
    receiverStore.put(receiver(1, { name: 'Rack C' }))
    live.synchronize()
    expect(messages.at(-1)).toMatchObject({ type: 'receiver', name: 'Rack C' })
  })

  it('continues to record messages while a client may resume, and then stops', () => {
    const { receiverStore, live, connect } = start()
    const disconnect = connect()
    disconnect()
    for (const id of [1, 2, 3]) {
      receiverStore.put(receiver(id))
      live.tick()
    }
    expect(live.journal.since(0)).toHaveLength(3)
    receiverStore.put(receiver(4))
    live.tick()
    receiverStore.put(receiver(5))
    live.tick()
    expect(live.journal.seq).toBe(4)
  })

  it('announces the number of devices that are waiting for review', () => {
    const { receiverStore, live, messages, connect } = start()
    connect()
    receiverStore.putEntry(entry('pending'))
    live.synchronize()
    receiverStore.putEntry(entry('rejected'))
    live.synchronize()
    expect(messages.map(({ type, pending }) => [type, pending])).toEqual([
      ['queue', 1],
      ['queue', 0],
    ])
  })
})

describe('a live publisher of levels', () => {
  it('announces levels at a tick, once per channel, and only those that changed', () => {
    const { receiverStore, live, messages, connect, setRfLevel, publishLevels } = start()
    for (const id of [1, 2]) receiverStore.put(receiver(id))
    connect()
    setRfLevel(1, -60)
    setRfLevel(1, -61)
    live.synchronize()
    expect(messages).toEqual([])
    live.tick()
    live.tick()
    publishLevels(1)
    live.tick()
    expect(messages).toEqual([{ type: 'levels', seq: 1, at: '1970-01-01T00:00:00.000Z', values: [[10, -61]] }])
  })

  it('announces levels from samples without a change of the record, and nothing when the record is read', () => {
    const { receiverStore, live, messages, connect, applySample } = start()
    receiverStore.put(receiver(1))
    connect()
    applySample(1, { channel: 1, rf_level: -60 })
    receiverStore.get(1)
    live.synchronize()
    expect(messages).toEqual([])
    applySample(1, { channel: 1, rf_level: -61 })
    live.tick()
    live.tick()
    expect(messages).toMatchObject([{ type: 'levels', values: [[10, -61]] }])
  })

  it('announces the details of a channel once per tick if they contain changed levels that levels messages lack', () => {
    const { receiverStore, live, messages, connect, applySample } = start()
    receiverStore.put(receiver(1))
    connect()
    applySample(1, { channel: 1, details: { rf_percent: 40 } })
    applySample(1, { channel: 1, details: { rf_percent: 42 } })
    live.tick()
    live.tick()
    expect(messages.filter(({ type }) => type !== 'levels')).toEqual([
      { type: 'channel', seq: 1, id: 10, receiver_id: 1, details: { rf_percent: 42 } },
    ])
  })

  it('announces only the levels that changed after a client connects', () => {
    const { receiverStore, live, messages, connect, setRfLevel, publishLevels } = start()
    for (const id of [1, 2]) receiverStore.put(receiver(id))
    connect()
    publishLevels(1, 2)
    setRfLevel(1, -60)
    live.tick()
    connect()
    publishLevels(1, 2)
    setRfLevel(2, -70)
    live.tick()
    expect(live.journal.seq).toBe(2)
    expect(messages.map(({ values }) => values)).toEqual(expect.arrayContaining([[[10, -60]], [[20, -70]]]))
  })

  it('announces levels again that were announced before, if a client has received others since', () => {
    const { receiverStore, live, messages, connect, setRfLevel } = start()
    receiverStore.put(receiver(1))
    connect()
    setRfLevel(1, -60)
    live.tick()
    setRfLevel(1, -50)
    // A client that connects now is sent -50 in its snapshot.
    connect()
    setRfLevel(1, -60)
    live.tick()
    expect(messages.at(-1)).toMatchObject({ type: 'levels', values: [[10, -60]] })
    expect(live.journal.seq).toBe(2)
  })
})

function entry(status: QueueStatus): QueueEntry {
  return {
    ...{ id: 1, manufacturer: 'shure', identity_key: 'k', api_device_id: 'd', serial_number: null, mac_address: null },
    ...{ ip: null, device_type: 'receiver', status, conflict_type: 'ip_conflict', is_duplicate: false },
    ...{ is_ip_conflict: true, existing_device: null, discovered_at: 0, metadata: null },
  }
}
