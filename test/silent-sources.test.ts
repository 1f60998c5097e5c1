/** Sources that are silent although a response or a level is due: `silent_since`, and the hollow dot on the pages. */

import { expect, it } from 'vitest'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import type { ReceiverSummary } from '../src/contract/receivers.ts'
import { now } from '../src/platform/clock.ts'
import { configFor, startApp, startSennheiser, startShure, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { startNetwork } from './support/faults/network.ts'
import { openLive } from './support/live-client.ts'

async function sourceAt(app: TestApp, address: string) {
  const { manufacturers } = (await app.get('/api/health/')).json
  const sources = manufacturers.flatMap((manufacturer: { sources: unknown[] }) => manufacturer.sources)
  return sources.find(({ source }: { source: string }) => source === address)
}

async function silenceOf(app: TestApp, address: string): Promise<string | null> {
  return (await sourceAt(app, address)).silent_since
}

async function startDevice() {
  const device = await startStringsSimulator({ family: 'ulxd' })
  onTestEnd(() => device.close())
  return { url: device.url, toConfig: (url: string) => ({ devices: [url], poll_interval: 1 }) }
}

async function startSystem() {
  const system = await startShure({ receivers: 1, pushesPerSecond: 0 })
  const config = { ...system.config, poll_interval: 1 }
  return { url: String(system.config.api_base_url), toConfig: (api_base_url: string) => ({ ...config, api_base_url }) }
}

async function startPushingSystem() {
  const system = await startShure({ receivers: 1 })
  const config = { ...system.config, poll_interval: 3600 }
  return { url: String(system.config.api_base_url), toConfig: (api_base_url: string) => ({ ...config, api_base_url }) }
}

// Conformance: C-22.30.
it.concurrent.each([
  ['a device with a fixed meter rate', startDevice, true],
  ['a system that is polled', startSystem, true],
  ['a system with a WebSocket', startPushingSystem, false],
])('%s is silent 3 s after the line is cut, until data arrives', async (_, start, failsSoon) => {
  const { url, toConfig } = await start()
  const network = await startNetwork(onTestEnd, url)
  const address = network.url.replace('http:', new URL(url).protocol)
  const quiet = await startSennheiser({ receivers: 1, pushesPerSecond: 0 })
  const limits = { calls_per_second: 1000, burst: 1000, timeout: 2 }
  const app = await startApp({
    manufacturers: [
      { code: 'shure', config: { ...toConfig(address), ...limits } },
      configFor(quiet, { poll_interval: 3600 }),
    ],
  })
  await until('both receivers are listed', async () => (await app.receivers()).length === 2)
  await until('the subscription is connected', () => quiet.push.connections === 1)
  const live = await openLive(app)
  const announced = () =>
    live
      .changes()
      .flatMap(({ type, code, silent_since }) => (type === 'source' && code === 'shure' ? silent_since : []))
  expect(await silenceOf(app, address)).toBe(null)

  const seenAt = ((await app.get('/api/receivers/?manufacturer=shure')).json as readonly ReceiverSummary[]).map(
    ({ last_seen }) => Date.parse(last_seen ?? ''),
  )
  network.blackhole()
  const silentSince = await until('the source is silent', () => silenceOf(app, address))
  expect(Date.parse(silentSince)).toBeGreaterThan(Math.min(...seenAt) - 1500)
  expect(Date.parse(silentSince)).toBeLessThan(now() - 2900)
  // Nothing is due from a source that reports only changes.
  expect(await silenceOf(app, String(quiet.config.api_base_url))).toBe(null)
  // It stays silent during failed attempts to connect, and when its status changes.
  if (failsSoon) await until('the source fails', async () => (await sourceAt(app, address)).consecutive_failures > 0)
  expect(await silenceOf(app, address)).toBe(silentSince)

  await network.restore()
  network.closeConnections()
  await until('something comes', async () => (await silenceOf(app, address)) === null)
  await until('the end is announced', () => announced().at(-1) === null)
  expect(new Set(announced())).toEqual(new Set([silentSince, null]))
})
