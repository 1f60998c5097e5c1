/**
 * Looks for devices that speak for themselves: at every address given, where their protocols usually listen, and wherever
 * they announce themselves. Nothing secret is sent: nobody knows yet who answers.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { type BrowseOptions, browse } from '../upstream/announcements.ts'
import type { Destinations } from '../upstream/destinations.ts'
import { createLink, createTurnstile } from '../upstream/link.ts'
import type { Plugin } from './plugin.ts'
import { hearSource } from './sources.ts'

/** A device that answered, as far as it could be asked. */
export interface FoundDevice {
  /** Where, as a configuration names it. */
  readonly address: string
  readonly ip: string
  /** The manufacturer's own. */
  readonly id: string
  readonly device_type: string
  readonly model: string | null
  readonly serial_number: string | null
  readonly mac_address: string | null
  readonly channels: number
}

export interface SearchOptions {
  readonly ips: readonly string[]
  /** Addresses that are listened to already; a device has little patience for a second listener. */
  readonly known: ReadonlySet<string>
  readonly destinations: Destinations
  readonly signal: AbortSignal
  /** Where services are asked for; the multicast group unless told. */
  readonly announcements?: Pick<BrowseOptions, 'group' | 'from'>
}

/** So many are asked at once, one of a kind after the other: some old gear does not stand being asked in a burst. */
const atOnce = 128
const apartMs = 2
/** On the networks where devices stand an answer takes some milliseconds. */
const answerMs = 700
/** Who answers at all may take longer to say everything. */
const tellMs = 8_000
const announceMs = 3_000

/** What was found when the signal aborts is given all the same. */
export async function searchAddresses(plugin: Plugin, options: SearchOptions): Promise<FoundDevice[]> {
  const { search } = plugin
  if (search === undefined) return []
  const { ips, known } = options
  const tried = new Set<string>()
  const lookAt = (addresses: readonly string[]) => {
    const fresh = [...new Set(addresses)].filter((address) => !known.has(address) && !tried.has(address))
    for (const address of fresh) tried.add(address)
    return askAll(plugin, fresh, options)
  }
  const searches = Object.entries(search.ports).map(([scheme, port]) =>
    lookAt(ips.map((ip) => `${scheme}//${ip}:${port}`)),
  )
  const announced = listenAround(search.services ?? {}, options).then(lookAt)
  const found = (await Promise.all([...searches, announced])).flat()
  return found.sort((a, b) => ips.indexOf(a.ip) - ips.indexOf(b.ip))
}

/** Addresses that are announced, of those that are wanted. */
async function listenAround(services: Readonly<Record<string, string>>, options: SearchOptions): Promise<string[]> {
  const { ips, signal, announcements } = options
  const wanted = new Set(ips)
  const about = { types: Object.keys(services), forMs: announceMs, signal, ...announcements }
  const offered = await browse(about).catch(() => [])
  return offered.flatMap(({ type, port, addresses }) =>
    addresses.filter((ip) => wanted.has(ip)).map((ip) => `${services[type]}//${ip}:${port}`),
  )
}

async function askAll(plugin: Plugin, addresses: readonly string[], options: SearchOptions): Promise<FoundDevice[]> {
  const { signal } = options
  const found: FoundDevice[] = []
  const rest = addresses.values()
  let nextAt = performance.now()
  const work = async () => {
    for (const address of rest) {
      if (signal.aborted) return
      const startAt = Math.max(nextAt, performance.now())
      nextAt = startAt + apartMs
      await pause(startAt - performance.now())
      found.push(...(await askOne(plugin, address, options)))
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, addresses.length) }, work))
  return found
}

/** Nobody, or somebody who speaks otherwise, is nothing found. */
async function askOne(
  plugin: Plugin,
  address: string,
  { destinations, signal }: SearchOptions,
): Promise<FoundDevice[]> {
  const [source] = plugin.listSources({ devices: [address] })
  if (source === undefined) return []
  const settings = { ...source, timeoutMs: answerMs }
  const link = createLink({ settings, errors: plugin.errors, turnstile: createTurnstile(), destinations })
  try {
    const heard = hearSource({ id: address, manufacturer: plugin.code, plugin, source, link })
    const { devices } = await heard.listDevices(AbortSignal.any([signal, AbortSignal.timeout(tellMs)]))
    return devices.map((device) => {
      const told = heard.form.transformDeviceData(device)
      return {
        address,
        ip: new URL(address).hostname,
        id: told.id,
        device_type: told.device_type ?? told.kind,
        model: told.model_name ?? null,
        serial_number: told.serial_number ?? null,
        mac_address: told.mac_address ?? null,
        channels: told.channels?.length ?? 0,
      }
    })
  } catch {
    return []
  } finally {
    await link.close()
  }
}
