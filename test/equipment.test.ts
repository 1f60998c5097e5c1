/** Simulated equipment with its real protocols, over real sockets. */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startAudioTechnicaSimulator } from '../simulators/audio_technica/receivers.ts'
import { startDemo } from '../simulators/demo.ts'
import type { ChannelBody } from '../src/contract/channels.ts'
import { channelOf, configFor, deviceOf, startApp, startLectrosonics, startSystemApi, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { tokenHeaders } from './support/tokens.ts'

describe.concurrent('a Shure System API server', () => {
  // Conformance: C-3.12.
  it('is detected; its receivers are listed, and its pushes are published at once', async () => {
    const server = await startSystemApi({ dockedPacks: 1 })
    const app = await startApp({ manufacturers: [configFor(server)] })
    const device = deviceOf(server)
    const all = await until('both receivers are known', async () => {
      const receivers = await app.receivers()
      return receivers.length === 2 && receivers
    })
    const receiver = all.find(({ name }) => name === device.name)
    const { json: detail } = await app.get(`/api/receivers/${receiver?.id}/`)
    expect(detail).toMatchObject({
      model: device.model,
      serial_number: device.serial_number,
      mac_address: device.mac_address,
      ip: device.ip,
      device_type: 'ulxd',
      manufacturer: 'shure',
    })
    await until('the subscription has reported its channels', () => server.subscriptions.length === 15)
    const socket = await app.socket()
    server.show.set(device.id, { name: 'Understudy' }, 2)
    server.push.flush()
    const update = await socket.next(
      ({ type, data }) => type === 'device_update' && JSON.stringify(data).includes('Understudy'),
    )
    expect(update).toMatchObject({ receiver_id: receiver?.id })
    const { json: units } = await app.get('/api/units/')
    expect(units).toMatchObject([{ model: 'ULXD1', battery_percentage: expect.any(Number) }])
  })
})

describe.concurrent('a Lectrosonics DSQD', () => {
  // Conformance: C-3.20.
  it('is monitored over one subscription, and not polled while it is connected', async () => {
    const receiverUnit = await startLectrosonics()
    const app = await startApp({ manufacturers: [configFor(receiverUnit)] })
    const device = deviceOf(receiverUnit)
    const [receiver] = await until('the device is known', async () => {
      const receivers = await app.receivers()
      return receivers.length === 1 && receivers
    })
    expect(receiver).toMatchObject({ name: device.name, device_type: 'dsqd' })
    const admin = await tokenHeaders(app, 'admin')
    await until('the subscription is connected', async () => {
      const [connection] = (await app.get('/api/admin/realtime-connections/', admin)).json
      return connection?.status === 'connected'
    })
    receiverUnit.show.set(
      device.id,
      { transmitter: true, battery: 33, rf_level: -70, audio_level: -12, name: 'Aurelio' },
      1,
    )
    const levels = await until('the levels are reported', async () => {
      const [current] = await app.receivers()
      const channel = current && channelOf(current)
      return channel?.transmitter?.battery === 33 && channel.transmitter.name === 'Aurelio' && channel
    })
    expect(levels).toMatchObject({
      rf_level: -70,
      audio_level: -12,
      details: { muted: false, encryption: 'on' },
      transmitter: { details: { battery_type: expect.any(String) } },
    })
    const identityRequests = receiverUnit.requests.count('!id?')
    await pause(2_500)
    // The subscription may send `!id?` once; polling would have sent it twice in this time.
    expect(receiverUnit.requests.count('!id?') - identityRequests).toBeLessThanOrEqual(1)
    expect(receiverUnit.push.connections).toBe(1)
  })

  it('is subscribed to again after it was switched off and on', async () => {
    const receiverUnit = await startLectrosonics()
    const app = await startApp({ manufacturers: [configFor(receiverUnit)] })
    const { id } = deviceOf(receiverUnit)
    await until(
      'the subscription is connected',
      async () => (await app.receivers()).length === 1 && receiverUnit.push.connections === 1,
    )
    receiverUnit.show.set(id, { online: false })
    const failures = async () => (await app.get('/api/health/')).json.manufacturers[0].consecutive_failures
    await until('polls fail', async () => (await failures()) > 0)
    receiverUnit.show.set(id, { online: true })
    await until(
      'all manufacturers are healthy',
      async () => (await failures()) === 0 && receiverUnit.push.connections === 1,
      20_000,
    )
  })
})

describe.concurrent('Audio-Technica receivers, which accept one session', () => {
  it('are monitored, tested and switched off and on over one session each', async () => {
    const units = await startAudioTechnicaSimulator({ receivers: 2, story: false })
    onTestEnd(() => units.close())
    const rate = { calls_per_second: 500, burst: 500, timeout: 3 }
    const app = await startApp({ manufacturers: [{ code: 'audio_technica', config: { ...units.config, ...rate } }] })
    const receivers = await until('both receivers are known with a transmitter', async () => {
      const all = await app.receivers()
      return all.length === 2 && all.every(({ channels }) => channels.some(({ transmitter }) => transmitter)) && all
    })
    expect(receivers.map(({ device_type, channels }) => [device_type, channels.length])).toEqual(
      expect.arrayContaining([
        ['system20', 4],
        ['esw', 8],
      ]),
    )
    await until('both subscriptions are connected', () => units.push.connections === 2)
    const admin = await tokenHeaders(app, 'admin')
    const tested = await app.post('/api/admin/manufacturers/audio_technica/test', undefined, admin)
    expect(tested.json).toMatchObject({ status: 'healthy', sources: [{ devices: 1 }, { devices: 1 }] })
    await until('the subscriptions are still connected', () => units.push.connections === 2)
    const [first] = units.show.devicesAt(0)
    units.show.set(first?.device.id ?? '', { online: false })
    await until('the session ends', () => units.push.connections === 1)
    units.show.set(first?.device.id ?? '', { online: true })
    await until('it is open again', () => units.push.connections === 2)
  })
})

it('the demo shows a rack of every family on one page, live, beside two systems', async () => {
  const { manufacturers, close } = await startDemo({ seed: 3 })
  onTestEnd(close)
  const app = await startApp({ manufacturers: manufacturers.map(({ code, config }) => ({ code, config })) })
  const families = [
    'ulxd',
    'qlxd',
    'slxd',
    'ad',
    'psm1000',
    'uhfr',
    'ewdx',
    'd6000',
    'ew',
    'spectera',
    'dsqd',
    'clearcom',
  ]
  // Receivers of the systems, and individual devices of Shure, Sennheiser, Lectrosonics and Clear-Com.
  const count = 24 + 7 + 6 + 1 + 1
  await until('every family is listed with its channels', async () => {
    const all = await app.receivers()
    const complete = all.filter(({ is_active, channels }) => is_active && channels.some(({ name }) => name))
    const types = new Set(complete.map(({ device_type }) => device_type))
    expect({ receivers: all.length, missing: families.filter((family) => !types.has(family)) }).toEqual({
      receivers: count,
      missing: [],
    })
    return true
  })
  expect(
    (await app.get('/api/units/?battery_percentage__gte=1')).json.map((unit: { model: string }) => unit.model),
  ).toContain('EW-DX SK')
  const levels = async () =>
    JSON.stringify((await app.receivers()).map(({ id, channels }) => [id, channels.map(channelLevels)]))
  const before = await levels()
  await until('the levels change', async () => (await levels()) !== before)
})

function channelLevels({ rf_level, audio_level, transmitter }: ChannelBody) {
  return [rf_level, audio_level, transmitter?.rf_level, transmitter?.audio_level]
}
