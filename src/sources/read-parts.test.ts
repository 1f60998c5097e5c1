import { describe, expect, test } from 'vitest'
import { LevelAges } from '../ingest/level-ages.ts'
import { LevelArrivals } from '../ingest/level-arrivals.ts'
import { ReceiverStore } from '../ingest/receiver-store.ts'
import { type ProtocolAdapter, type UpstreamDevice, withoutParts } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { Connections } from './connections.ts'
import { PartReader } from './read-parts.ts'
import { SourceDevices } from './source-devices.ts'

interface Device extends UpstreamDevice {
  readonly parts: number
}

/** Polls devices with these numbers of parts, and returns the ids of the devices of which each cycle read parts. */
async function poll(
  parts: Readonly<Record<string, number>>,
  rateLimit: { perSecond: number; burst: number },
  cycles: number,
) {
  let requests: string[] = []
  const adapter = {
    ...withoutParts,
    listDevices: async () => ({ devices: [], malformed: 0 }),
    partsOf: (device: Device) => Array.from({ length: device.parts }, (_, index) => `part ${index}`),
    readPart: async (_client: unknown, device: Device) => {
      requests.push(device.id)
      return { ...device }
    },
    transformDeviceData: ({ id }: Device) => ({ id, kind: 'receiver' }),
  } as unknown as ProtocolAdapter
  const source = { id: 'test', manufacturer: 'test', adapter, settings: { rateLimit } } as unknown as MonitoredSource
  const receiverStore = new ReceiverStore()
  const connections = new Connections(null as never, receiverStore, null as never, null as never)
  const devices = new SourceDevices(source, receiverStore, connections, new LevelAges(receiverStore.levels))
  const reader = new PartReader(source, devices, new LevelArrivals(null as never, null as never))
  const signal = new AbortController().signal
  const read: string[][] = []
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    requests = []
    const start = devices.startCycle()
    const entries = await devices.remember(Object.entries(parts).map(([id, count]) => ({ id, parts: count })))
    await reader.read(entries, { signal, intervalMs: 1000, start, isComplete: () => false })
    read.push(requests)
  }
  return read
}

const idsOf = (requests: readonly string[]) => [...new Set(requests)].join('')

describe('the levels of a device with more parts than the budget of a cycle', () => {
  const cycles = 40
  // 8 of 10 requests a second, one of which reads the list.
  const rateLimit = { perSecond: 10, burst: 1 }

  test('are read as often as those of the others', async () => {
    const read = await poll({ a: 2, b: 30, c: 2 }, rateLimit, cycles)
    const counts = ['a', 'b', 'c'].map((id) => read.filter((requests) => requests.includes(id)).length)
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(7)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
  })

  test('are read in one cycle, and the following cycles save the requests', async () => {
    const read = await poll({ a: 2, b: 30, c: 2 }, rateLimit, 7)
    expect(read.map(idsOf)).toEqual(['ab', '', '', '', 'ca', 'b', ''])
    const requests = (await poll({ a: 2, b: 30, c: 2 }, rateLimit, cycles)).flat().length
    expect(requests).toBeLessThanOrEqual(7 * cycles + 30)
  })

  test('are read even if the list uses the whole share of the rate limit', async () => {
    const read = await poll({ a: 3, b: 1 }, { perSecond: 0.1, burst: 1 }, 8)
    expect(read.map(idsOf)).toEqual(['a', '', '', 'b', 'a', '', '', 'b'])
  })
})
