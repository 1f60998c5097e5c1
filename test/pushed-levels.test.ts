/** Messages of JSON subscriptions that contain nothing but levels, and so bypass reports if everything is known. */

import { describe, expect, it } from 'vitest'
import { channelOf, configFor, deviceOf, startApp, startSennheiser, startShure, until } from './app.ts'

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
