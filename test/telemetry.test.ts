/** A value that changes on a device reaches a browser and a script. */

import { describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import {
  channelOf,
  configFor,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  until,
  withoutPush,
} from './support/app.ts'
import { acceptSubscription, device, respondJson, startSystem } from './support/faults/system.ts'
import { channelIn } from './support/socket-client.ts'
import { type Engine, engines } from './support/store/databases.ts'

describe.concurrent.each(engines)('a changed value (%s)', (engine: Engine) => {
  // Conformance: S-1.3, S-4.22.
  it.each([
    ['a WebSocket', startShure],
    ['an event stream', startSennheiser],
  ] as const)('is pushed over %s and reaches REST and the WebSocket', async (_, start) => {
    const simulator = await start()
    const { id } = deviceOf(simulator)
    const app = await startApp({ engine, manufacturers: [configFor(simulator, { poll_interval: 3600 })] })
    await until('the subscription is connected', () => simulator.push.connections > 0)
    const socket = await app.socket()
    const before = await until('the receiver is known', () => app.receiver(id))

    const listed = simulator.requests.count('/api/v1/devices')
    // The simulated levels are never that high, so every value differs from the one before.
    simulator.show.set(id, { audio_level: 0, rf_level: -21, battery: 42, name: 'Understudy' }, 2)
    simulator.push.flush()
    const transmitter = { name: 'Understudy', battery: 42, audio_level: 0, rf_level: -21 }
    const update = await socket.next((message) => channelIn(message, 2)?.transmitter?.name === 'Understudy')
    expect(update).toMatchObject({ receiver_id: before.id, manufacturer: simulator.manufacturer })
    expect(update.data.channels).toHaveLength(2)
    const listedChannel = channelOf(await app.receiver(id), 2)
    expect(listedChannel).toMatchObject({ name: 'Understudy', transmitter })
    // Version 1 has no `not_now`.
    expect({ ...channelOf(update.data, 2), not_now: null }).toEqual(listedChannel)
    expect(simulator.requests.count('/api/v1/devices')).toBe(listed)
  })

  // Conformance: S-1.1.
  it('is found by polls without a subscription', async () => {
    const simulator = withoutPush(await startShure())
    const { id } = deviceOf(simulator)
    const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
    const socket = await app.socket()
    await until('the receiver is known', () => app.receiver(id))

    simulator.show.set(id, { audio_level: -3, battery: 17 }, 1)
    const update = await socket.next((message) => channelIn(message)?.transmitter?.battery === 17)
    expect(channelOf(update.data).transmitter).toMatchObject({ audio_level: -3, battery: 17 })
    expect(channelOf(await app.receiver(id)).transmitter).toMatchObject({ audio_level: -3, battery: 17 })
    expect(simulator.push.connections).toBe(0)
  })
})

describe.concurrent('a changed value', () => {
  it('is pushed as a summary by a device without channels, and then has precedence over its list', async () => {
    const summaryDevice = device(1, { channels: [], transmitters: [], battery_percentage: 40, rf_level: -60 })
    const system = await startSystem(respondJson({ devices: [summaryDevice] }))
    const subscription = acceptSubscription(system)
    const app = await startApp({ manufacturers: [system.entry('sum')] })
    await until('the subscription is connected', () => subscription.isUp)
    // The list is read once more, to find changes from before the subscription was connected.
    const before = system.requests.length
    await until('the list is read again', () => system.requests.length > before + 1)
    const transmitter = async () => channelOf(await app.receiver('d1')).transmitter
    expect(await transmitter()).toMatchObject({ battery: 40, rf_level: -60 })
    subscription.send({ type: 'device_update', device_id: 'd1', battery_percentage: 30, rf_level: -80 })
    await until('the value is reported', async () => (await transmitter())?.battery === 30)
    const requestsBefore = system.requests.length
    await until('the list is read once more', () => system.requests.length > requestsBefore + 1)
    expect(await transmitter()).toMatchObject({ battery: 30, rf_level: -80 })
  })

  it('is not delayed by reading further details of known devices', async () => {
    const parts = { channels: undefined, transmitters: undefined, mac_address: undefined }
    const devices = Array.from({ length: 40 }, (_, index) => device(index, parts))
    const system = await startSystem((request, response) => {
      const [, , , , id, part] = request.url?.split('/') ?? []
      const { channels, transmitters, ...detail } = device(Number(id?.slice(1)))
      const body = { channels: { channels }, transmitter: { transmitters } }[part ?? ''] ?? detail
      return respondJson(id === undefined ? { devices } : body)(request, response)
    })
    const app = await startApp({ manufacturers: [system.entry('slow', { calls_per_second: 10, burst: 10 })] })
    await until('the first receiver has channels', async () =>
      (await app.receivers()).some(({ channels }) => channels.length > 0),
    )
    const countRequests = (part: RegExp) => system.requests.filter(({ path }) => part.test(path)).length
    expect(countRequests(/d\d+$/)).toBeLessThan(40)
    await until('all details are read', () => countRequests(/d\d+$/) >= 40)
    expect(countRequests(/channels$/)).toBeGreaterThan(5)
  })
})

describe('the messages about a receiver', () => {
  // Conformance: S-1.2, S-2.2, S-2.4, C-2.1, C-2.11.
  it('have the documented fields and units', async () => {
    const simulator = withoutPush(await startShure())
    const device = deviceOf(simulator)
    const change = { audio_level: -12, rf_level: -58, battery: 15, frequency: '540', name: 'Host' }
    simulator.show.set(device.id, change, 1)
    simulator.show.set(device.id, { rf_level: -50, battery: 90 }, 2)
    const app = await startApp({ manufacturers: [configFor(simulator)] })
    const receiver = await until('the receiver is known', () => app.receiver(device.id))

    const { name, device_type, ip, model, serial_number, mac_address, firmware_version, subnet_mask } = device
    expect(receiver).toMatchObject({ name, device_type, ip, model, serial_number, mac_address, firmware_version })
    expect(receiver).toMatchObject({ subnet_mask, manufacturer: 'shure', is_active: true })
    expect(receiver).toMatchObject({ battery_health: 'low', signal_quality: 'good' })
    expect(now() - Date.parse(receiver.last_seen)).toBeLessThan(10_000)
    expect(receiver.last_seen).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const { slot, transmitter } = channelOf(receiver)
    expect(slot).toBe(1)
    expect(transmitter).toMatchObject({
      slot: 1,
      name: 'Host',
      battery: 15,
      audio_level: -12,
      rf_level: -58,
      frequency: '540.000',
    })

    const [listed] = await app.receivers()
    expect(listed).toMatchObject({ id: receiver.id, name, device_type, ip, channels: receiver.channels })
    const summary = { id: receiver.id, name, device_type, ip, is_active: true, last_seen: expect.any(String) }
    expect((await app.get('/api/receivers/')).json[0]).toMatchObject(summary)
  })

  // Conformance: C-2.2.
  it('have no transmitter after it is switched off, and levels are never invented', async () => {
    const simulator = await startShure()
    const { id } = deviceOf(simulator)
    const app = await startApp({ manufacturers: [configFor(simulator)] })
    const socket = await app.socket()
    await until('the receiver is known', () => app.receiver(id))
    await until('the subscription is connected', () => simulator.push.connections > 0)
    simulator.show.set(id, { transmitter: false }, 1)
    const update = await socket.next((message) => channelIn(message)?.transmitter === null)
    expect(channelOf(update.data, 2)).toBeDefined()
    await until('REST reports the change as well', async () => channelOf(await app.receiver(id)).transmitter === null)
    simulator.show.set(id, { transmitter: true }, 1)
    await until('the transmitter is on again', async () => channelOf(await app.receiver(id)).transmitter !== null)
  })

  // Conformance: C-7.6.
  // Reliability: R3.
  it('are sent at most ten times a second for each receiver, and the last state always arrives', async () => {
    const simulator = await startShure({ receivers: 1, pushesPerSecond: 100 })
    const { id } = deviceOf(simulator)
    const app = await startApp({ manufacturers: [configFor(simulator, { poll_interval: 3600 })] })
    await until('the subscription is connected', () => simulator.push.connections > 0)
    const socket = await app.socket()
    const startedAt = performance.now()
    let level = -90
    await until('two seconds have passed, and ten updates were sent', () => {
      level = level === -90 ? -40 : -90
      simulator.show.set(id, { rf_level: level }, 1)
      return performance.now() - startedAt > 2000 && socket.ofType('device_update').length > 10
    })
    simulator.show.set(id, { rf_level: -77 }, 1)
    simulator.push.flush()
    await socket.next((message) => channelIn(message)?.transmitter?.rf_level === -77)
    await until(
      'REST reports the change as well',
      async () => channelOf(await app.receiver(id)).transmitter?.rf_level === -77,
    )
    const updates = socket.ofType('device_update')
    const seconds = ((updates.at(-1)?.at ?? 0) - (updates[0]?.at ?? 0)) / 1000
    expect(seconds).toBeGreaterThan(1)
    expect(updates.length).toBeLessThanOrEqual(Math.ceil(seconds * 10) + 1)
  })

  // Conformance: S-2.13, C-7.5.
  it('are not sent when only the time has passed', async () => {
    const simulator = withoutPush(await startShure({ now: () => 1_800_000_000_000 }))
    const app = await startApp({ manufacturers: [configFor(simulator)] })
    const socket = await app.socket()
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    const polledAgain = async () => {
      const [before] = await app.summaries()
      await until(
        'the system was polled again',
        async () => (await app.summaries())[0]?.last_seen !== before?.last_seen,
      )
    }
    // After the next poll, all messages from the first poll have been sent.
    await polledAgain()
    await socket.receiveAll()
    const updateCount = socket.ofType('device_update').length
    await polledAgain()
    expect(socket.ofType('device_update').slice(updateCount)).toEqual([])
  })
})
