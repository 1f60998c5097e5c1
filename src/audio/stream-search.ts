/**
 * Asks the network for streams: RAVENNA devices by DNS-SD and RTSP, NMOS registries by DNS-SD and HTTP, and the
 * addresses of the configuration. A device that responds slowly or wrongly delays only its own streams.
 */

import type { SearchSource } from '../domain/audio/audio-stream.ts'
import { parseSdp, type StreamDescription, withLabels } from '../domain/audio/sdp.ts'
import { isOnNetwork, type LocalAddress } from '../domain/identity/network.ts'
import { toSentence } from '../domain/text.ts'
import { Semaphore } from '../platform/concurrency.ts'
import { pause } from '../platform/wait.ts'
import { type AnnouncedService, browse, type MulticastGroup } from '../upstream/announcements.ts'
import { type Destinations, withoutInternet } from '../upstream/destinations.ts'
import { listNmosSenders, type NmosSender, readManifest } from '../upstream/nmos.ts'
import { describeRtsp } from '../upstream/rtsp.ts'
import { maxFound } from './announced-streams.ts'
import { SearchProblems } from './search-problems.ts'
import type { Announcement, SearchProblem } from './worker-messages.ts'

export interface StreamSearchOptions {
  readonly rtsp: readonly string[]
  readonly nmos: readonly string[]
  readonly destinations: Destinations
  interfaces(): readonly LocalAddress[]
  onAnnouncement(announcement: Announcement): void
  readonly everyMs?: number
  readonly timeoutMs?: number
  /** Default: the multicast DNS group. */
  readonly group?: MulticastGroup
}

const searchEveryMs = 30_000
const requestTimeoutMs = 5000
const browseMs = 2000
/** Requests at a time. */
const maxRequests = 8
const maxRegistries = 16
/** Descriptions that are kept until their sender changes. */
const maxManifests = 500

const ravenna = '_ravenna_session._sub._rtsp._tcp'
const nmosQuery = '_nmos-query._tcp'

interface SearchRequest {
  readonly destinations: Destinations
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

export class StreamSearch {
  readonly #options: StreamSearchOptions
  readonly #requests = new Semaphore(maxRequests)
  readonly #problems = { rtsp: new SearchProblems(), nmos: new SearchProblems() }
  /** The descriptions of the previous round, by sender and its version. */
  #manifests: ReadonlyMap<string, string> = new Map()
  /** Those of this round. */
  #nextManifests = new Map<string, string>()

  constructor(options: StreamSearchOptions) {
    this.#options = options
  }

  problems(): (SearchProblem & { readonly source: SearchSource })[] {
    const { rtsp, nmos } = this.#problems
    return [
      ...rtsp.list().map((problem) => ({ ...problem, source: 'rtsp' as const })),
      ...nmos.list().map((problem) => ({ ...problem, source: 'nmos' as const })),
    ]
  }

  /** Searches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    do await this.#search(signal)
    while (await pause(this.#options.everyMs ?? searchEveryMs, signal))
  }

  async #search(signal: AbortSignal): Promise<void> {
    const { rtsp, nmos, destinations, timeoutMs = requestTimeoutMs } = this.#options
    const request = { destinations, signal, timeoutMs }
    const local = { ...request, destinations: withoutInternet(destinations) }
    const entered = Promise.all([
      ...rtsp.map((address) => this.#describe(address, request)),
      ...nmos.map((address) => this.#readRegistry(address, request)),
    ])
    const services = await this.#browse(signal)
    const sessions = addressesOf(services, ravenna, ({ instance }, host) => {
      return `rtsp://${host}/by-name/${encodeURIComponent(instance)}`
    })
    const registries = addressesOf(services, nmosQuery, ({ text }, host) => {
      return `${text.api_proto === 'https' ? 'https' : 'http'}://${host}`
    })
    await Promise.all([
      entered,
      ...without(sessions, rtsp, maxFound).map((address) => this.#describe(address, local)),
      ...without(registries, nmos, maxRegistries).map((address) => this.#readRegistry(address, local)),
    ])
    this.#manifests = this.#nextManifests
    this.#nextManifests = new Map()
  }

  /** Networks that cannot be queried have no services. */
  async #browse(signal: AbortSignal): Promise<AnnouncedService[]> {
    const { interfaces, group } = this.#options
    const types = [ravenna, nmosQuery]
    return browse({ types, forMs: browseMs, signal, from: interfaces(), ...(group && { group }) }).catch(() => [])
  }

  async #describe(address: string, request: SearchRequest): Promise<void> {
    await this.#attempt('rtsp', address, request, async () => {
      const sdp = await this.#requests.run(() => describeRtsp(address, request))
      this.#announce('rtsp', address, sdp)
    })
  }

  async #readRegistry(address: string, request: SearchRequest): Promise<void> {
    await this.#attempt('nmos', address, request, async () => {
      const senders = await this.#requests.run(() => listNmosSenders(address, request))
      await Promise.all(senders.map((sender) => this.#readSender(sender, request)))
    })
  }

  async #readSender(sender: NmosSender, request: SearchRequest): Promise<void> {
    const { manifest, channelLabels } = sender
    const key = `${manifest} ${sender.id} ${sender.version}`
    await this.#attempt('nmos', manifest, request, async () => {
      const sdp = this.#manifests.get(key) ?? (await this.#requests.run(() => readManifest(manifest, request)))
      this.#announce('nmos', manifest, sdp, channelLabels)
      if (this.#nextManifests.size < maxManifests) this.#nextManifests.set(key, sdp)
    })
  }

  /** Notes why it failed. */
  async #attempt(
    source: 'rtsp' | 'nmos',
    address: string,
    { signal }: SearchRequest,
    run: () => Promise<void>,
  ): Promise<void> {
    try {
      await run()
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (!signal.aborted) this.#problems[source].add(address, toSentence(text.replace(/\.$/, '')))
    }
  }

  /** Throws an Error that says why the description cannot be used. */
  #announce(source: 'rtsp' | 'nmos', address: string, sdp: string, labels: readonly string[] = []): void {
    const parsed = parseSdp(sdp)
    if ('error' in parsed) throw new Error(`the description (SDP) cannot be used: ${parsed.error}`)
    const streams = parsed.streams.map((stream) => withLabels(stream, labels))
    // As in announcements by SAP, so that a stream that is found in both ways is listed once.
    const sender = streams[0]?.origin ?? new URL(address).hostname
    this.#options.onAnnouncement({
      type: 'announcement',
      source,
      sender,
      interface: this.#interfaceTo(streams),
      streams,
    })
  }

  /** Null if it is unknown, and for a stream that is sent on two networks. */
  #interfaceTo([stream]: readonly StreamDescription[]): string | null {
    const origin = stream?.legs.length === 1 ? stream.origin : null
    return this.#options.interfaces().find((local) => isOnNetwork(local, origin))?.address ?? null
  }
}

function addressesOf(
  services: readonly AnnouncedService[],
  type: string,
  toAddress: (service: AnnouncedService, host: string) => string,
): string[] {
  const addresses = services
    .filter((service) => service.type === type)
    .flatMap((service) => service.addresses.slice(0, 1).map((ip) => toAddress(service, `${ip}:${service.port}`)))
  return [...new Set(addresses)]
}

function without(addresses: readonly string[], entered: readonly string[], most: number): readonly string[] {
  return addresses.filter((address) => !entered.includes(address)).slice(0, most)
}
