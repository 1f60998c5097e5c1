import { describe, expect, test } from 'vitest'
import { getPlugin } from '../manufacturers/index.ts'
import { type ProtocolAdapter, type UpstreamDevice, withoutParts } from '../manufacturers/plugin.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import { createDeviceMemory } from './device-memory.ts'

const [system] = getPlugin('shure').adapters as [ProtocolAdapter]

/** Lists one device with these fields. */
async function listed(fields: object): Promise<UpstreamDevice> {
  const body = [{ device_id: 'a', device_name: 'Rack', serial_number: 'S1', transmitters: [], ...fields }]
  const client = { request: async () => ({ status: 200, headers: {}, body }) } as unknown as UpstreamClient
  const [device] = (await system.listDevices(client)).devices
  if (device === undefined) throw new Error('no device')
  return device
}

const levels = (rf_level: number) => ({ channels: [{ channel: 1, rf_level }] })

/** Creates a device memory that counts the adapter's translations. */
function countingMemory() {
  let translations = 0
  const memory = createDeviceMemory({
    ...system,
    transformDeviceData(device) {
      translations += 1
      return system.transformDeviceData(device)
    },
  })
  return {
    get translations() {
      return translations
    },
    async poll(fields: object) {
      memory.begin()
      const entry = memory.remember(await listed(fields))
      memory.end()
      if (entry === null) throw new Error('listed twice')
      return { entry, translation: memory.translationOf(entry) }
    },
  }
}

describe('createDeviceMemory', () => {
  test('translates a device with pushed levels once while only its listed levels change', async () => {
    const counting = countingMemory()
    const first = (await counting.poll(levels(-50))).translation.withoutLevels
    for (const level of [-60, -70, -80]) {
      expect((await counting.poll(levels(level))).translation.withoutLevels).toBe(first)
    }
    expect(counting.translations).toBe(1)
    expect(first.channels).toBe(undefined)
  })

  test('translates a device again when another field changes, and keeps the levels available', async () => {
    const counting = countingMemory()
    const first = (await counting.poll(levels(-50))).translation.withoutLevels
    const { translation } = await counting.poll({ ...levels(-60), device_name: 'Stage left' })
    expect([first.name, translation.withoutLevels.name]).toEqual(['Rack', 'Stage left'])
    const last = (await counting.poll({ ...levels(-70), device_name: 'Stage left' })).translation
    expect(last.report.channels).toMatchObject([{ channel: 1, rf_level: -70 }])
  })

  test('counts a device that is listed as offline as missed', async () => {
    const counting = countingMemory()
    expect((await counting.poll(levels(-50))).translation.withoutLevels.online).toBe(true)
    expect((await counting.poll({ ...levels(-60), status: 'offline' })).entry.missed).toBe(1)
    expect((await counting.poll({ ...levels(-60), status: 'online' })).entry.missed).toBe(0)
  })

  test('translates every list entry of an adapter without separate parts', async () => {
    const memory = createDeviceMemory({ ...system, ...withoutParts })
    const nameIn = async (fields: object) => {
      memory.begin()
      const entry = memory.remember(await listed(fields))
      return entry === null ? null : memory.translationOf(entry).withoutLevels.name
    }
    expect(await nameIn({ ...levels(-50), device_name: 'Rack' })).toBe('Rack')
    expect(await nameIn({ ...levels(-60), device_name: 'Stage left' })).toBe('Stage left')
  })

  test('drops separately read values in the next cycle', async () => {
    const memory = createDeviceMemory({
      ...system,
      transformDeviceData: (device) => ({
        ...system.transformDeviceData(device),
        ...('battery' in device && { battery: 50 }),
      }),
    })
    const poll = async (rfLevel: number) => {
      memory.begin()
      const entry = memory.remember(await listed(levels(rfLevel)))
      if (entry === null) throw new Error('listed twice')
      return entry
    }
    const entry = await poll(-50)
    entry.device = { ...entry.device, battery: 50 } as UpstreamDevice
    expect(memory.translationOf(entry).withoutLevels.battery).toBe(50)
    expect(memory.translationOf(await poll(-60)).withoutLevels.battery).toBe(undefined)
  })
})
