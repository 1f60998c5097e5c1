/** Messages of JSON subscriptions: those that contain nothing but levels bypass reports if everything is known. */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { channelOf, configFor, deviceOf, startApp, startSennheiser, startShure, until } from './support/app.ts'
import { withDatabase } from './support/store/databases.ts'

const systems = [
  ['a WebSocket', startShure, (device_id: string, fields: object) => ({ type: 'device_update', device_id, ...fields })],
  ['an event stream', startSennheiser, (id: string, fields: object) => ({ [`/api/v1/devices/${id}`]: fields })],
] as const

describe.concurrent.each(systems)('levels pushed over %s', (_, start, toMessage) => {
  it('are applied, and a transmitter or channel that is not known yet is added', async () => {
    const simulator = await start({ pushesPerSecond: 0 })
    const app = await startApp({ manufacturers: [configFor(simulator, { poll_interval: 3600 })] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    await until('the subscription is connected', () => simulator.push.connections === 1)
    const { id } = deviceOf(simulator)
    const read = async (channel = 1) => channelOf(await app.receiver(id), channel)
    await until('its channels are known', async () => (await read()).transmitter !== null)
    const send = (fields: object) => simulator.push.send(JSON.stringify(toMessage(id, fields)))
    const sendLevels = (channel: number, rf_level: number) =>
      send({ channels: [{ channel, rf_level }], transmitters: [{ channel, rf_level }] })
    const hasLevel = (rf_level: number, channel = 1) =>
      until(`channel ${channel} has ${rf_level} dBm`, async () => {
        const { receivers } = (await app.get('/api/data.json')).json
        const receiver = receivers.find(({ name }: { name: string }) => name === deviceOf(simulator).name)
        const known = receiver.channels.find((candidate: { channel: number }) => candidate.channel === channel)
        return known?.transmitter?.rf_level === rf_level && known.rf_level === rf_level
      })

    for (const level of [-41, -42, -43]) {
      sendLevels(1, level)
      await hasLevel(level)
    }
    const { transmitter } = await read()
    expect(transmitter).toMatchObject({ battery: expect.any(Number) })

    send({ channels: [{ channel: 1, transmitter: null }] })
    await until('the transmitter is removed', async () => (await read()).transmitter === null)
    sendLevels(1, -44)
    await hasLevel(-44)

    sendLevels(3, -45)
    await hasLevel(-45, 3)
  })
})

const waits = ['while the list is on its way', 'while the cycle waits for the database'] as const

describe.concurrent.each(waits)('values pushed %s', (wait) => {
  it('are not replaced by older ones that the cycle has read', async () => {
    const simulator = await startShure({ receivers: 1, pushesPerSecond: 0 })
    const { id } = deviceOf(simulator)
    simulator.show.set(id, { battery: 90, rf_level: -50, audio_level: -20 }, 1)
    const app = await startApp({ manufacturers: [configFor(simulator)] })
    await until('the receiver is known', async () => (await app.receivers()).length === 1)
    await until('the subscription is connected', () => simulator.push.connections === 1)
    const read = async () => {
      const { transmitter } = channelOf(await app.receiver(id))
      return [transmitter?.battery, transmitter?.rf_level, transmitter?.audio_level]
    }
    await until('its values are known', async () => (await read())[0] === 90)
    const lists = () => simulator.requests.count('/api/v1/devices', 'GET')
    const nextLists = async (count: number) => {
      const last = lists() + count
      await until(`${count} more lists were requested`, () => lists() >= last)
    }

    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const isDatabaseBusy = wait === 'while the cycle waits for the database'
    const writing = isDatabaseBusy ? withDatabase(app, (db) => db.transaction(() => held)) : undefined
    if (!isDatabaseBusy) simulator.setFault({ type: 'late', afterMs: 600 }, { path: /devices$/ })
    await nextLists(isDatabaseBusy ? 2 : 1)
    simulator.show.set(id, { battery: 15, rf_level: -71 }, 1)
    simulator.push.flush()
    await until('the pushed values are known', async () => (await read())[0] === 15)
    release()
    await writing
    const end = lists() + 3
    while (lists() < end) {
      expect(await read()).toEqual([15, -71, -20])
      await pause(10)
    }
  })
})
