/**
 * The cost of an installation that follows many others. All sites are the same origin, which is polled and evaluated
 * there, and followed once per record. To the installation that follows, these are different sites.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../../simulators/shure/device-api.ts'
import { type AtEnd, cpuTimeMs, createTempFolder, residentBytes, waitFor } from '../harness.ts'
import { entryOf, plainShow, type Service, startService } from '../reliability/service.ts'

export interface SiteLoad {
  readonly sites: number
  /** Receivers of each site, with two channels each. */
  readonly receivers: number
  readonly seconds: number
}

export interface SiteFigures extends SiteLoad {
  readonly channels: number
  /** From the start of the process until all sites were connected and their receivers known. */
  readonly connected_after_s: number
  readonly connecting_cpu_s: number
  readonly resident_mb: number
  /** Percent of one core, while nothing changes. */
  readonly idle_cpu_percent: number
  /** Percent of one core, while every site has one change of a channel every two seconds. */
  readonly busy_cpu_percent: number
  /** Changes per second that were measured, over all sites. */
  readonly changes_per_second: number
  /** Time of `GET /api/sites/`. */
  readonly list_ms: number
}

const channelsPerReceiver = 2
const connectTimeoutMs = 300_000

export async function measureSites(atEnd: AtEnd, load: SiteLoad): Promise<SiteFigures> {
  const { sites, receivers, seconds } = load
  const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver })
  atEnd(() => simulator.close())
  const origin = await startService(atEnd, await createTempFolder(atEnd), {
    manufacturers: [entryOf(simulator, { poll_interval: 3600 })],
  })
  await waitFor('the origin shows its receivers', async () => (await countReceivers(origin)) === receivers, 60_000)

  const startedAt = performance.now()
  const follower = await startService(atEnd, await createTempFolder(atEnd), {
    manufacturers: Array.from({ length: sites }, (_, index) => ({
      code: `site-${index + 1}`,
      name: `Venue ${index + 1}`,
      plugin: 'micwatch',
      config: { api_base_url: origin.address },
    })),
  })
  const list = async () => (await follower.get('/api/sites/')).json as { receivers: number }[]
  const isComplete = async () => {
    const listed = await list()
    return listed.length === sites && listed.every((site) => site.receivers === receivers)
  }
  await waitFor('all sites are followed', isComplete, connectTimeoutMs)
  const connected_after_s = (performance.now() - startedAt) / 1000
  const connecting_cpu_s = ((await cpuTimeMs(follower.pid)) ?? Number.NaN) / 1000
  await sleep(5_000)

  const idle = await measureCpu(follower, () => sleep(seconds * 1000))
  const devices = simulator.show.devicesAt(0)
  let changes = 0
  const busy = await measureCpu(follower, async () => {
    const endsAt = performance.now() + seconds * 1000
    while (performance.now() < endsAt) {
      const device = devices[changes % devices.length]?.device
      const transmitter = { channel: 1, battery: 60 - (changes % 20) }
      simulator.push.send(JSON.stringify({ type: 'device_update', device_id: device?.id, transmitters: [transmitter] }))
      changes += 1
      await sleep(2000)
    }
  })
  const listStartedAt = performance.now()
  await list()
  return {
    ...load,
    channels: sites * receivers * channelsPerReceiver,
    connected_after_s,
    connecting_cpu_s,
    resident_mb: ((await residentBytes(follower.pid)) ?? Number.NaN) / 1e6,
    idle_cpu_percent: idle,
    busy_cpu_percent: busy,
    changes_per_second: (changes * sites) / seconds,
    list_ms: performance.now() - listStartedAt,
  }
}

async function countReceivers(service: Service): Promise<number> {
  return (await service.get('/api/data.json')).json.receivers.length
}

/** Returns the processor time of a service in percent of one core. */
async function measureCpu({ pid }: Service, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  const before = (await cpuTimeMs(pid)) ?? Number.NaN
  await work()
  return ((((await cpuTimeMs(pid)) ?? Number.NaN) - before) / (performance.now() - startedAt)) * 100
}
