/** An NMOS registry or node (IS-04) with senders, whose descriptions it serves itself. */

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SimulatedSender {
  readonly id: string
  readonly version: string
  readonly label: string
  /** Null for a sender that describes nothing. */
  readonly sdp: string | null
  /** Instead of the description: nothing, a redirect, or more than is accepted. */
  readonly manners?: 'slow' | 'redirect' | 'huge'
  readonly format?: 'audio' | 'video'
  readonly channelLabels?: readonly string[]
  /** Instead of an address of this registry. */
  readonly manifest?: string
}

interface RegistryOptions {
  /** Default: `query`. */
  readonly api?: 'query' | 'node'
  readonly versions?: readonly string[]
  readonly pageSize?: number
}

export interface NmosRegistry {
  readonly url: string
  readonly port: number
  /** The newest change first, as a registry lists them. */
  senders: readonly SimulatedSender[]
  /** Served instead of the list of senders. */
  body: string | null
  /** Requests of descriptions that arrived. */
  readonly manifests: string[]
  close(): Promise<void>
}

export async function startNmosRegistry({
  api = 'query',
  versions = ['v1.2', 'v1.3'],
  pageSize = 100,
}: RegistryOptions = {}) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', registry.url)
    const base = `/x-nmos/${api}/`
    if (url.pathname === base)
      return sendJson(
        response,
        versions.map((version) => `${version}/`),
      )
    const [, name = ''] = /^\/x-nmos\/\w+\/v1\.\d\/(senders|flows|sources)$/.exec(url.pathname) ?? []
    if (name === 'senders' && registry.body !== null) return void response.end(registry.body)
    if (name !== '' && url.pathname.startsWith(base)) {
      return sendPage(response, listOf(name, registry), url.searchParams, api === 'query' ? pageSize : null)
    }
    const sender = registry.senders.find(({ id }) => url.pathname === `/sdp/${id}`)
    if (sender === undefined) return void response.writeHead(404).end()
    registry.manifests.push(sender.id)
    sendManifest(response, sender)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const registry: NmosRegistry = {
    url: `http://127.0.0.1:${port}`,
    port,
    senders: [],
    body: null,
    manifests: [],
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return registry
}

function listOf(name: string, { senders, url }: NmosRegistry): object[] {
  return senders.map(({ id, version, label, sdp, format = 'audio', channelLabels, manifest }) => {
    if (name === 'senders') {
      const manifest_href = sdp === null ? null : (manifest ?? `${url}/sdp/${id}`)
      return { id, version, label, flow_id: `flow-${id}`, transport: 'urn:x-nmos:transport:rtp.mcast', manifest_href }
    }
    if (name === 'flows') return { id: `flow-${id}`, source_id: `source-${id}`, format: `urn:x-nmos:format:${format}` }
    return { id: `source-${id}`, channels: channelLabels?.map((label) => ({ label })) }
  })
}

/** Pages are numbered as times, of which the registry returns the latest first (IS-04, 2.5). */
function sendPage(
  response: ServerResponse,
  list: readonly object[],
  query: URLSearchParams,
  pageSize: number | null,
): void {
  const limit = Math.min(pageSize ?? list.length, Number(query.get('paging.limit') ?? list.length))
  const until = Number(query.get('paging.until')?.split(':')[0] ?? list.length)
  const since = Math.max(0, until - limit)
  if (pageSize !== null) {
    response.setHeader('x-paging-since', `${since}:0`)
    response.setHeader('x-paging-until', `${until}:0`)
  }
  sendJson(response, list.slice(list.length - until, list.length - since))
}

function sendManifest(response: ServerResponse, { sdp, manners }: SimulatedSender): void {
  if (manners === 'slow') return
  if (manners === 'redirect') return void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
  response.setHeader('content-type', 'application/sdp')
  response.end(manners === 'huge' ? 'v=0\r\n'.repeat(1_000_000) : sdp)
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}
