import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { describeDevice, findTold, follow, linkToDevice } from '../../../../test/device-kit.ts'
import { caught, until } from '../../../../test/plugin-kit-resources.ts'
import { atEnd } from '../../../../test/scope.ts'
import { shure } from '../index.ts'
import { type StringsSimulatorOptions, startStringsSimulator } from './simulator.ts'
import type { StringsDevice } from './translate.ts'
import { toObservation } from './translate.ts'

const families = ['ulxd', 'qlxd', 'slxd', 'slxd+', 'ad', 'psm1000', 'uhfr'] as const

for (const family of families) {
  describeDevice({ name: family, plugin: shure, start: () => startStringsSimulator({ family }) })
}

async function start(options: StringsSimulatorOptions, config: object = {}) {
  const device = await startStringsSimulator(options)
  const linked = linkToDevice(shure, device.url, config)
  atEnd(() => device.close())
  atEnd(() => linked.link.close())
  return { device, linked, list: () => linked.form.listDevices(linked.link) }
}

async function observe({ list }: Awaited<ReturnType<typeof start>>) {
  const { devices } = await list()
  return devices.map((device) => toObservation(device as unknown as StringsDevice))[0]
}

describe.concurrent('who it is', () => {
  test.each(families)('%s is known by its own answers', async (family) => {
    const started = await start({ family })
    const { device, channels } = started.device.state
    const seen = await observe(started)
    expect(seen).toMatchObject({ device_type: device.device_type, channels: { length: channels.length } })
    const tellsMac = ['ulxd', 'qlxd', 'slxd+', 'ad'].includes(family)
    expect(seen?.mac_address).toBe(tellsMac ? device.mac_address : undefined)
    // Reached by a forwarded port: the address is not its own.
    expect(seen?.ip).toBe(tellsMac && family !== 'qlxd' ? device.ip : undefined)
  })

  test('an older ULX-D tells no model', async () => {
    const seen = await observe(await start({ family: 'ulxd', unknownKeys: ['MODEL', 'NET_SETTINGS SC'] }))
    expect(seen).toMatchObject({ device_type: 'ulxd', model_name: 'ULXD4', channels: { length: 4 } })
  })

  test.each([
    ['SBC840', /is a SBC840, which Micwatch does not know/],
    ['ANX4', /is a ANX4, which Micwatch does not know/],
  ])('%s is refused by name', async (model, says) => {
    const { list } = await start({ family: 'ulxd', model })
    await expect(list()).rejects.toThrow(says)
  })

  test('an SLX-D that is not allowed to speak is told apart', async () => {
    const { device, list } = await start({ family: 'slxd' })
    device.setFault('silent')
    await expect(list()).rejects.toThrow(/allow Controller Access/)
  })
})

test.concurrent.each(families)('%s: levels, batteries and marks are what the device shows', async (family) => {
  const started = await start({ family })
  started.device.change(1, { transmitter: true, battery: 60, rf_level: -63, audio_level: -20, transmitterMuted: true })
  const channel = (await observe(started))?.channels?.[0]
  const isDigital = !['psm1000', 'uhfr'].includes(family)
  expect(channel?.rf_level ?? null).toBe(isDigital ? -63 : null)
  if (family !== 'uhfr') expect(channel?.audio_level).toBe(-20)
  if (family !== 'psm1000') expect(channel?.transmitter?.battery).toBe(60)
  const tellsMute = ['ulxd', 'qlxd', 'ad', 'psm1000'].includes(family)
  expect(channel?.transmitter?.details?.muted).toBe(tellsMute ? true : undefined)
  started.device.change(1, { transmitter: false })
  const empty = (await observe(started))?.channels?.[0]
  if (family === 'psm1000') expect(empty?.transmitter).toBeDefined()
  else expect(empty?.transmitter).toBeNull()
})

describe.concurrent('a conversation', () => {
  test('ends with meters off, so that a QLX-D does not hang', async () => {
    const { device, linked, list } = await start({ family: 'qlxd' })
    await list()
    const stop = new AbortController()
    const events = follow(linked, stop.signal)
    await events.next()
    stop.abort()
    await until(() => device.clients === 0)
    await pause(50)
    expect(device.isLockedUp).toBe(false)
    expect(device.commands.filter((one) => one === 'SET 1 METER_RATE 00000')).toHaveLength(2)
    // The simulator is as sensitive as the real one: left without a word, it hangs.
    const rude = follow(linked, new AbortController().signal)
    await rude.next()
    device.cut()
    await until(() => device.isLockedUp)
    await rude.return?.()
  })

  test('does not mind frames that come byte by byte, or late', async () => {
    const chopped = await observe(await start({ family: 'ad', isChopped: true }))
    expect(chopped?.channels).toHaveLength(4)
    const late = await start({ family: 'ulxd' }, { timeout: 10 })
    late.device.setFault('late')
    const seen = await observe(late)
    expect(seen?.mac_address).toBe(late.device.state.device.mac_address)
    expect(seen?.channels?.every(({ frequency }) => frequency)).toBe(true)
  }, 20_000)

  test('that is one too many is refused', async () => {
    const { linked, list } = await start({ family: 'ulxd', maxClients: 1 })
    const stop = new AbortController()
    const events = follow(linked, stop.signal)
    await events.next()
    expect(await caught(list())).toBeInstanceOf(shure.errors.ApiError)
    stop.abort()
    await events.return?.()
  })

  test('is lost when the device cuts it off, and when it has said nothing for five seconds', async () => {
    const { device: cutting, linked: toCutting } = await start({ family: 'ad' })
    const cut = follow(toCutting, new AbortController().signal)
    await cut.next()
    cutting.cut()
    await expect(findTold(cut, () => false)).rejects.toThrow(/closed/)
    const silent = await Promise.all(families.map((family) => start({ family })))
    const endings = silent.map(async ({ device, linked }) => {
      const events = follow(linked, new AbortController().signal)
      await events.next()
      device.setFault('silent')
      const since = performance.now()
      await expect(findTold(events, () => false)).rejects.toThrow(/fell silent/)
      return performance.now() - since
    })
    for (const lasted of await Promise.all(endings)) {
      expect(lasted).toBeGreaterThan(3_500)
      expect(lasted).toBeLessThan(7_500)
    }
  }, 20_000)

  test('goes on without a word about meters that stay as they are', async () => {
    const { device, linked } = await start({ family: 'ulxd' })
    for (const { channel } of device.state.channels)
      device.change(channel, { transmitter: false, rf_level: -110, audio_level: -90 })
    const events = follow(linked, new AbortController().signal)
    await events.next()
    await events.next()
    const next = events.next()
    expect(await Promise.race([next, pause(800, 'nothing')])).toBe('nothing')
    device.change(2, { name: 'News' })
    expect((await next).value).toMatchObject({ observation: { channels: [{ channel: 2, name: 'News' }] } })
    await events.return?.()
  })
})
