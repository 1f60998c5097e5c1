/**
 * A receiver that is monitored in two ways stays one receiver when either source is lost; the other source takes over
 * after half a minute.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { startSsc1Simulator } from '../simulators/sennheiser/ssc1.ts'
import { startSsc2Simulator } from '../simulators/sennheiser/ssc2.ts'
import { type StringsSimulatorOptions, startStringsSimulator } from '../simulators/shure/strings.ts'
import { configFor, deviceOf, startApp, startShure, startSystemApi, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'

const password = 'stage-right-password'

async function startDevice(options: StringsSimulatorOptions) {
  const device = await startStringsSimulator(options)
  onTestEnd(() => device.close())
  return device
}

it.concurrent('a receiver that is also monitored through its system stays one receiver when either source is lost', async () => {
  const system = await startShure({ receivers: 1, channelsPerReceiver: 4, pushesPerSecond: 0 })
  const { id } = deviceOf(system)
  const device = await startDevice({ family: 'ulxd', show: system.show, id })
  const { config } = configFor(system)
  const entry = { code: 'shure', config: { ...config, devices: [device.url], timeout: 2 } }
  const app = await startApp({ manufacturers: [entry] })
  const receiver = async () => {
    const all = await app.receivers()
    expect(all).toHaveLength(1)
    expect(all[0]?.is_active).toBe(true)
    return (await app.get(`/api/receivers/${all[0]?.id}/`)).json
  }
  const mergedReceiver = await until('both sources have reported', async () => {
    const before = (await app.receivers())[0]?.channels[0]?.details && (await receiver())
    return before?.api_device_id.startsWith('strings:') && before.serial_number && before
  })
  // The receiver itself reports only eight characters of a name, and no serial number.
  const { name, serial_number } = system.show.deviceAt(system.elapsed(), id)?.device ?? {}
  expect(mergedReceiver).toMatchObject({ name: name?.slice(0, 8).trim(), serial_number })

  device.setFault('silent')
  system.show.set(id, { name: 'Anew', battery: 11, transmitter: true }, 1)
  await until(
    'the system takes over',
    async () => {
      const { channels, api_device_id } = await receiver()
      return api_device_id === id && channels[0]?.transmitter.battery === 11
    },
    60_000,
  )
  device.setFault(null)
  await until('the device is polled again', async () => (await receiver()).api_device_id.startsWith('strings:'), 40_000)
  await system.close()
  device.change(1, { battery: 88, transmitter: true })
  await until(
    'the remaining source continues alone',
    async () => (await receiver()).channels[0]?.transmitter.battery === 88,
  )
})

it.concurrent('a receiver that is monitored directly and through a Shure System API server stays one receiver when either source is lost', async () => {
  const serverOptions = { receivers: 1, channelsPerReceiver: 4, pushesPerSecond: 0, port: await freePort() }
  const server = await startSystemApi(serverOptions)
  const { id, serial_number } = deviceOf(server)
  const device = await startDevice({ family: 'ulxd', show: server.show, id })
  const { config } = configFor(server)
  const entry = { code: 'shure', config: { ...config, devices: [device.url], timeout: 2 } }
  const app = await startApp({ manufacturers: [entry] })
  const receiver = async () => {
    const [first, ...others] = await app.receivers()
    expect(others).toEqual([])
    if (first !== undefined) expect(first.is_active).toBe(true)
    return first && (await app.get(`/api/receivers/${first.id}/`)).json
  }
  const firstChannel = async () => (await receiver())?.channels[0]
  const mergedReceiver = await until('both sources have reported', async () => {
    const before = await receiver()
    return before?.api_device_id.startsWith('strings:') && before.channels[0]?.details?.audio_activity && before
  })
  // Only the server reports the serial number and the audio activity, only the receiver reports the frequency.
  expect(mergedReceiver).toMatchObject({ serial_number })
  expect(mergedReceiver.channels[0]).toMatchObject({
    frequency: expect.any(String),
    details: { audio_rms: expect.any(Number) },
  })

  await server.close()
  device.change(1, { battery: 88, transmitter: true })
  await until('the remaining source continues alone', async () => (await firstChannel())?.transmitter?.battery === 88)
  const restarted = await startSystemApi(serverOptions)
  device.setFault('silent')
  const { name } = restarted.show.deviceAt(restarted.elapsed(), id)?.device ?? {}
  restarted.show.set(id, { name: 'From the server' }, 1)
  restarted.push.flush()
  await until('the server takes over', async () => (await firstChannel())?.name === 'From the server', 60_000)
  expect(await receiver()).toMatchObject({ id: mergedReceiver.id, name })
})

it.concurrent('an EW-DX that is monitored with both its protocols stays one receiver when either source is lost', async () => {
  const host = '127.0.0.8'
  const legacy = await startSsc1Simulator({ host, mac: '00:1B:66:00:00:08' })
  onTestEnd(() => legacy.close())
  const newer = await startSsc2Simulator({ host, serial: '8008' })
  onTestEnd(() => newer.close())
  const rate = { calls_per_second: 1000, burst: 1000, poll_interval: 1 }
  const config = { devices: [legacy.url, newer.url], password, timeout: 3, stream_timeout: 2, ...rate }
  const app = await startApp({ manufacturers: [{ code: 'sennheiser', config }] })
  const detail = async () => {
    const [first, ...others] = await app.receivers()
    expect(others).toEqual([])
    if (first !== undefined) expect(first.is_active).toBe(true)
    return first && (await app.get(`/api/receivers/${first.id}/`)).json
  }
  const battery = async () => (await detail())?.channels[0]?.transmitter?.battery
  const mergedReceiver = await until('both sources have reported', async () => {
    const merged = await detail()
    return merged?.api_device_id === 'sscv2:8008' && merged.mac_address !== null && merged
  })
  // Only the newer protocol reports a serial number, only the older one a MAC address.
  expect(mergedReceiver).toMatchObject({ serial_number: '8008', mac_address: '00:1B:66:00:00:08', ip: host })
  legacy.set({ '/mates/tx1/battery/gauge': 31 })
  newer.set('/api/transmitters/0/battery', { gauge: 77 })
  await until('the newer protocol takes precedence', async () => (await battery()) === 77)

  newer.setSilent(true)
  await until('the older protocol takes over', async () => (await battery()) === 31, 60_000)
  expect((await detail())?.id).toBe(mergedReceiver.id)
  newer.setSilent(false)
  newer.set('/api/transmitters/0/battery', { gauge: 66 })
  await until('the newer protocol is used again', async () => (await battery()) === 66, 40_000)
  legacy.udp.network.content = 'none'
  await pause(4_000)
  newer.set('/api/transmitters/0/battery', { gauge: 55 })
  await until('the remaining source continues alone', async () => (await battery()) === 55)
  expect(await detail()).toMatchObject({ id: mergedReceiver.id, mac_address: '00:1B:66:00:00:08' })
})
