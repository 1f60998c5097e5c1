import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { emptyChannel } from '../domain/equipment/receiver.ts'
import { toDraft } from '../domain/identity/ingest-plan.ts'
import { LeaseManager } from '../sources/lease-manager.ts'
import { Backlog } from './backlog.ts'
import { LevelLane } from './level-lane.ts'
import { ReceiverStore } from './receiver-store.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function createLane() {
  const receiverStore = new ReceiverStore()
  const { levels } = receiverStore
  const channels = [emptyChannel(5, 1, 1)]
  receiverStore.put({ ...toDraft('shure', { id: 'a', kind: 'receiver' }, 1000), id: 1, channels })
  const backlog = new Backlog(receiverStore, new LeaseManager(null as never, 'node', null as never))
  const received: number[] = []
  const published: number[] = []
  const lane = new LevelLane(levels, backlog, { drop() {} })
  lane.received.subscribe((id) => void received.push(id))
  lane.changed.subscribe((changed) => void published.push(...changed.map(({ receiverId }) => receiverId)))
  const rows = levels.rowsOf(1)
  if (rows === undefined) throw new Error('The receiver has no rows.')
  const listUnsaved = () => backlog.listUnsaved('shure')
  return { lane, levels, rows, listUnsaved, received, published }
}

it('publishes levels that another process received, but neither stores them nor passes them on', () => {
  const { lane, rows, listUnsaved, received, published } = createLane()
  lane.applyRemote(rows, [{ channel: 1, rf_level: -48 }], 2000)
  lane.publishFrame()
  expect({ unsaved: listUnsaved(), received, published }).toEqual({ unsaved: [], received: [], published: [1] })
  expect(rows.lastSeen).toBe(2000)
})

it('neither stores nor passes on encoded levels of another process', () => {
  const { lane, levels, rows, listUnsaved, received, published } = createLane()
  const [encoded] = levels.encode(rows)
  const values = encoded?.values.slice().fill(-48, 0, 1) ?? new Int16Array()
  lane.applyEncoded(rows, [{ channel: 1, values }], 2000)
  lane.publishFrame()
  expect({ unsaved: listUnsaved(), received, published }).toEqual({ unsaved: [], received: [], published: [1] })
  expect([rows.lastSeen, levels.encode(rows)[0]?.values[0]]).toEqual([2000, -48])
})

it('stores the levels of a receiver if this process has also received levels of it', () => {
  const { lane, rows, listUnsaved, received } = createLane()
  lane.applyRemote(rows, [{ channel: 1, rf_level: -48 }], 2000)
  lane.apply(rows, [{ channel: 1, rf_level: -47 }])
  lane.applyRemote(rows, [{ channel: 1, rf_level: -46 }], 2500)
  lane.publishFrame()
  expect({ unsaved: listUnsaved(), received }).toEqual({ unsaved: [1], received: [1] })
})
