import { expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import { buildSlotRecords } from '../../../test/support/titles.ts'
import { emptyChannel } from '../../domain/equipment/receiver.ts'
import { emptyFields } from '../../domain/equipment/slot-entry.ts'
import { PlaceholderStore } from '../../ingest/placeholder-store.ts'
import { ReceiverStore } from '../../ingest/receiver-store.ts'
import type { PeerMessage } from './peers.ts'
import { OscPublisher } from './publisher.ts'

/** Creates a publisher for receivers with four channels each, in the slots 1, 2, 3… */
function createPublisher(receivers: number) {
  const receiverStore = new ReceiverStore()
  for (let id = 1; id <= receivers; id++) {
    const channels = [0, 1, 2, 3].map((index) => {
      const slot = 4 * (id - 1) + index + 1
      return { ...emptyChannel(slot, index + 1, slot), name: `CH ${slot}`, rf_level: -90 }
    })
    receiverStore.put(buildReceiver(id, { channels }))
  }
  const placeholderStore = new PlaceholderStore()
  const publisher = new OscPublisher(receiverStore, placeholderStore, buildSlotRecords(receiverStore, placeholderStore))
  return { receiverStore, publisher, placeholderStore }
}

function createPeer() {
  const received: PeerMessage[] = []
  return {
    peer: { put: (_key: string, message: PeerMessage) => void received.push(message), close: () => {} },
    /** Returns the addresses that were sent since the last call. */
    take: () => received.splice(0).map(({ address }) => address),
  }
}

it('sends all values to a new peer, and then only changed values', async () => {
  const { publisher, receiverStore } = createPublisher(1)
  const { peer, take } = createPeer()
  publisher.addPeer(peer)
  await publisher.tick()
  // Name, state, attention, RF level and muted.
  expect(take()).toHaveLength(4 * 5)
  await publisher.tick()
  expect(take()).toEqual([])
  const rows = receiverStore.levels.rowsOf(1)
  if (rows === undefined) throw new Error('the receiver has no rows')
  receiverStore.levels.apply(rows, [{ channel: 2, rf_level: -61 }], 1)
  await publisher.tick()
  expect(take()).toEqual(['/micwatch/ch/2/rf'])
  publisher.sendAll(peer)
  await publisher.tick()
  expect(take()).toHaveLength(4 * 5)
})

// Conformance: C-16.37.
it('repeats every value once in 100 ticks, a tenth of a second apart', async () => {
  const { publisher } = createPublisher(2)
  const { peer, take } = createPeer()
  publisher.addPeer(peer)
  await publisher.tick()
  const all = take().sort()
  const repeated: string[][] = []
  for (let tick = 0; tick < 100; tick++) {
    await publisher.tick()
    repeated.push(take())
  }
  expect(repeated.flat().sort()).toEqual(all)
  expect(repeated.filter((addresses) => addresses.length > 0)).toHaveLength(8)
})

// Conformance: C-16.33.
it('sends the title again when it changes', async () => {
  const { publisher, placeholderStore } = createPublisher(1)
  const { peer, take } = createPeer()
  publisher.addPeer(peer)
  await publisher.tick()
  take()
  const entry = { ...emptyFields, id: 1, channel_id: 3, placeholder_id: null, label: 'Ana', version: 1 }
  placeholderStore.replace({ revision: 1, placeholders: [], entries: [entry] })
  await publisher.tick()
  expect(take()).toEqual(['/micwatch/ch/3/name'])
  placeholderStore.replace({ revision: 2, placeholders: [], entries: [] })
  await publisher.tick()
  expect(take()).toEqual(['/micwatch/ch/3/name'])
})

// Conformance: C-16.47.
it('a pass over 1,000 receivers yields to the event loop', async () => {
  const { publisher } = createPublisher(1000)
  publisher.addPeer(createPeer().peer)
  let turns = 0
  const count = () => {
    turns += 1
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  await publisher.tick()
  clearImmediate(immediate)
  expect(turns).toBeGreaterThan(0)
})

it('forgets removed channels, and sends everything about those that are added', async () => {
  const { publisher, receiverStore } = createPublisher(2)
  const { peer, take } = createPeer()
  publisher.addPeer(peer)
  await publisher.tick()
  take()
  const receiver = receiverStore.get(2)
  receiverStore.remove(2)
  await publisher.tick()
  expect(take()).toEqual([])
  if (receiver !== undefined) receiverStore.put(receiver)
  await publisher.tick()
  expect(take()).toHaveLength(4 * 5)
})
