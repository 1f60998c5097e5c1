/**
 * Reads the senders of audio of an NMOS registry (IS-04, Query API) or of a single node (IS-04, Node API). Their
 * descriptions are at addresses that the senders choose; those are requested as any other, without credentials.
 */

import { isRecord, type Json } from '../domain/json.ts'
import { createUpstreamClient, type UpstreamClient } from './client.ts'
import type { Destinations } from './destinations.ts'
import { ApiError, ApiRateLimitError } from './errors.ts'

export interface NmosSender {
  readonly id: string
  /** Changes with each change of the sender. */
  readonly version: string
  readonly label: string
  /** Where its description (SDP) is. */
  readonly manifest: string
  /** Labels of its channels; empty if the source has none. */
  readonly channelLabels: readonly string[]
}

interface NmosOptions {
  readonly destinations: Destinations
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** The newest first. */
const versions = ['v1.3', 'v1.2', 'v1.1', 'v1.0']
const pageSize = 100
const maxPages = 10
const maxSenders = 500
const audioFormat = 'urn:x-nmos:format:audio'
const maxTextLength = 500
const rateLimit = { perSecond: 50, burst: 100 }
const apis = ['query', 'node'] as const

/** Throws an ApiError that says what is wrong. */
export async function listNmosSenders(address: string, options: NmosOptions): Promise<NmosSender[]> {
  return withClient(address, options, async (client) => {
    const base = await findApi(client, options.signal)
    const list = (name: string) => listResources(client, `${base}/${name}`, options.signal)
    const senders = await list('senders')
    const flows = byId(await list('flows'))
    const sources = byId(await list('sources'))
    return senders.slice(0, maxSenders).flatMap((sender): NmosSender[] => {
      const { manifest_href } = sender
      const flow = flows.get(textOf(sender.flow_id))
      if (typeof manifest_href !== 'string' || (flow !== undefined && flow.format !== audioFormat)) return []
      return [
        {
          id: textOf(sender.id),
          version: textOf(sender.version),
          label: textOf(sender.label),
          manifest: manifest_href,
          channelLabels: readLabels(sources.get(textOf(flow?.source_id))),
        },
      ]
    })
  })
}

/** Returns the SDP at an address. Throws an ApiError that says what is wrong. */
export async function readManifest(address: string, options: NmosOptions): Promise<string> {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new ApiError(`expected an address that begins with http:// or https:// and has no password: ${address}`)
  }
  return withClient(url.origin, options, async (client) => {
    const { signal } = options
    const headers = { accept: 'application/sdp' }
    const read = async (bytes: Buffer) => bytes.toString()
    const { body } = await client.request('GET', `${url.pathname}${url.search}`, { signal, headers, read })
    return textOf(body, Number.POSITIVE_INFINITY)
  })
}

async function withClient<T>(
  address: string,
  { destinations, timeoutMs }: NmosOptions,
  use: (client: UpstreamClient) => Promise<T>,
): Promise<T> {
  const baseUrl = address.replace(/\/+$/, '')
  const settings = { baseUrl, timeoutMs, rateLimit, credentials: { scheme: 'none' }, verifySsl: true } as const
  const client = createUpstreamClient({ settings, errors: { ApiError, ApiRateLimitError }, destinations })
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

/** Returns the path of the newest version that both sides know. */
async function findApi(client: UpstreamClient, signal: AbortSignal): Promise<string> {
  const { host } = new URL(client.settings.baseUrl)
  for (const api of apis) {
    const { status, body } = await client.request('GET', `/x-nmos/${api}/`, { signal, accept: [404] })
    if (status === 404) continue
    const offered = Array.isArray(body) ? body.map((version) => textOf(version).replace(/\/$/, '')) : []
    const version = versions.find((known) => offered.includes(known))
    if (version === undefined) throw new ApiError(`${host} offers no version of NMOS IS-04 that Micwatch knows`)
    return `/x-nmos/${api}/${version}`
  }
  throw new ApiError(`${host} is no NMOS registry or node: it has neither /x-nmos/query/ nor /x-nmos/node/`)
}

/** Registries return pages, the latest changes first (IS-04, 2.5); nodes return everything. */
async function listResources(client: UpstreamClient, path: string, signal: AbortSignal): Promise<Json[]> {
  const found: Json[] = []
  let until: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const query = new URLSearchParams({ 'paging.limit': String(pageSize), ...(until && { 'paging.until': until }) })
    const pages = path.startsWith('/x-nmos/query/') && !path.includes('/v1.0/')
    const address = pages ? `${path}?${query}` : path
    const { body, headers } = await client.request('GET', address, { signal })
    if (!Array.isArray(body)) throw new ApiError(`${path} is no list`)
    found.push(...body.filter(isRecord))
    const since = headers['x-paging-since']
    if (!pages || body.length === 0 || since === undefined || since === until) break
    until = since
  }
  return found
}

function byId(resources: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(resources.map((resource) => [textOf(resource.id), resource]))
}

function readLabels(source: Json | undefined): string[] {
  const channels = Array.isArray(source?.channels) ? source.channels : []
  return channels.slice(0, 64).map((channel) => (isRecord(channel) ? textOf(channel.label) : ''))
}

function textOf(value: unknown, maxLength = maxTextLength): string {
  return typeof value === 'string' ? value.slice(0, maxLength) : ''
}
