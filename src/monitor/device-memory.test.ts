import { describe, expect, test } from 'vitest'
import { getPlugin } from '../manufacturers/index.ts'
import { type ProtocolAdapter, type UpstreamDevice, withoutParts } from '../manufacturers/plugin.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import { createDeviceMemory, withoutLevels } from './device-memory.ts'

const [system] = getPlugin('shure').adapters as [ProtocolAdapter]

/** The one device of a list with these fields. */
async function listed(fields: object): Promise<UpstreamDevice> {
  const body = [{ device_id: 'a', device_name: 'Rack', serial_number: 'S1', transmitters: [], ...fields }]
  const client = { request: async () => ({ status: 200, headers: {}, body }) } as unknown as UpstreamClient
  const [device] = (await system.listDevices(client)).devices
  if (device === undefined) throw new Error('no device')
  return device
}

const levels = (rf_level: number) => ({ channels: [{ channel: 1, rf_level }] })

/** What is remembered of a device after each of its lists, by a form whose translations are counted. */
function remembering() {
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
    async hear(fields: object) {
      memory.begin()
      const entry = memory.remember(await listed(fields))
      memory.end()
      if (entry === null) throw new Error('told twice')
      return { entry, meaning: memory.translationOf(entry) }
    },
  }
}

describe('a device whose levels come over a link', () => {
  test('is translated once, however its levels change in the list', async () => {
    const told = remembering()
    const first = withoutLevels((await told.hear(levels(-50))).meaning)
    for (const level of [-60, -70, -80]) {
      expect(withoutLevels((await told.hear(levels(level))).meaning)).toBe(first)
    }
    expect(told.translations).toBe(1)
    expect(first.channels).toBe(undefined)
  })

  test('is translated again when anything else of it changes, and with its levels for whoever wants them', async () => {
    const told = remembering()
    const first = withoutLevels((await told.hear(levels(-50))).meaning)
    const { meaning } = await told.hear({ ...levels(-60), device_name: 'Stage left' })
    expect([first.name, withoutLevels(meaning).name]).toEqual(['Rack', 'Stage left'])
    const last = (await told.hear({ ...levels(-70), device_name: 'Stage left' })).meaning
    expect(last.report.channels).toMatchObject([{ channel: 1, rf_level: -70 }])
  })

  test('is missed when its list calls it offline', async () => {
    const told = remembering()
    withoutLevels((await told.hear(levels(-50))).meaning)
    expect((await told.hear({ ...levels(-60), status: 'offline' })).entry.missed).toBe(1)
    expect((await told.hear({ ...levels(-60), status: 'online' })).entry.missed).toBe(0)
  })

  test('that tells everything at once is never taken for the same by its list', async () => {
    const memory = createDeviceMemory({ ...system, ...withoutParts })
    const nameIn = async (fields: object) => {
      memory.begin()
      const entry = memory.remember(await listed(fields))
      return entry === null ? null : withoutLevels(memory.translationOf(entry)).name
    }
    expect(await nameIn({ ...levels(-50), device_name: 'Rack' })).toBe('Rack')
    expect(await nameIn({ ...levels(-60), device_name: 'Stage left' })).toBe('Stage left')
  })

  test('is not told again what was read of it before the link', async () => {
    const memory = createDeviceMemory({
      ...system,
      transformDeviceData: (device) => ({
        ...system.transformDeviceData(device),
        ...('battery' in device && { battery: 50 }),
      }),
    })
    const hear = async (rfLevel: number) => {
      memory.begin()
      const entry = memory.remember(await listed(levels(rfLevel)))
      if (entry === null) throw new Error('told twice')
      return entry
    }
    const entry = await hear(-50)
    entry.device = { ...entry.device, battery: 50 } as UpstreamDevice
    expect(withoutLevels(memory.translationOf(entry)).battery).toBe(50)
    expect(withoutLevels(memory.translationOf(await hear(-60))).battery).toBe(undefined)
  })
})
