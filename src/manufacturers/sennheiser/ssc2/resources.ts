/**
 * What a device that speaks SSC 2 has told, by resource. Source of the resources: Sennheiser's SSC 2 specification 2.3, the
 * OpenAPI descriptions of EW-DX (1.7) and Spectera (18.1), and what is said of them by those who use them.
 */

import { isRecord, type Json } from '../../../upstream/fields.ts'

/** The last body of every resource; null: it is not there, or not now. */
export type Resources = ReadonlyMap<string, unknown>

export const identityPath = '/api/device/identity'
export const sitePath = '/api/device/site'
export const firmwarePath = '/api/firmware/update/state'
export const versionPath = '/api/ssc/version'
/** Told up to sixty times a second while it is subscribed. */
export const meteringPath = '/api/audio/metering'
export const packPrefix = '/api/mts/paired/'
export const outputPrefix = '/api/audio/outputs/'

/** Lists whose entries are resources of their own: told whole at first, then one by one. */
interface Collection {
  readonly path: string
  /** Where an entry is kept: what an event may call it, then the one name we give it. */
  readonly entry: RegExp
  readonly keep: (id: string) => string
  readonly id: string
  /** An entry's body, where it is wrapped. */
  readonly body?: string
}

const collections: readonly Collection[] = [
  {
    path: '/api/transmitters',
    entry: /^\/api\/transmitters\/([^/]+)$/,
    keep: (id) => `/api/transmitters/${id}`,
    id: 'id',
    body: 'transmitter',
  },
  {
    path: '/api/rf/channels',
    entry: /^\/api\/rf\/channels\/([^/]+)$/,
    keep: (id) => `/api/rf/channels/${id}`,
    id: 'rfChannelId',
  },
  {
    path: '/api/mts/paired/all',
    entry: /^\/api\/mts\/paired\/(?:all\/)?(?!all$)([^/]+)$/,
    keep: (id) => packPrefix + id,
    id: 'mtUid',
  },
  {
    path: '/api/audio/outputs',
    entry: /^\/api\/audio\/outputs\/([^/]+)$/,
    keep: (id) => outputPrefix + id,
    id: 'outputId',
  },
]

const maxResources = 1000

/** Takes in what one resource tells: some devices tell changed properties alone, so bodies are merged. */
export function takeResource(known: Map<string, unknown>, path: string, body: unknown): void {
  const list = collections.find((one) => one.path === path)
  if (list !== undefined && Array.isArray(body)) takeList(known, list, body)
  else {
    const [, entry] = collections.map(({ entry, keep }) => keepAs(path, entry, keep)).find((one) => one !== null) ?? []
    takeBody(known, entry ?? path, body)
  }
}

function keepAs(path: string, entry: RegExp, keep: (id: string) => string): readonly [string, string] | null {
  const [, id] = entry.exec(path) ?? []
  return id === undefined ? null : [id, keep(id)]
}

function takeList(known: Map<string, unknown>, { keep, id, body }: Collection, entries: readonly unknown[]): void {
  const named = entries.filter(isRecord).filter((entry) => ['string', 'number'].includes(typeof entry[id]))
  const told = new Map(named.map((entry) => [keep(String(entry[id])), body === undefined ? entry : entry[body]]))
  const prefix = keep('')
  for (const path of known.keys()) {
    const [own] = path.startsWith(prefix) ? path.slice(prefix.length).split('/') : []
    if (own !== undefined && !told.has(keep(own))) takeBody(known, keep(own), null)
  }
  for (const [path, value] of told) takeBody(known, path, value)
}

function takeBody(known: Map<string, unknown>, path: string, body: unknown): void {
  if (!known.has(path) && known.size >= maxResources) return
  const before = known.get(path)
  known.set(path, isRecord(before) && isRecord(body) ? { ...before, ...body } : body)
  if (body !== null) return
  // What was below it went with it.
  for (const below of known.keys()) if (below.startsWith(`${path}/`)) known.set(below, null)
}

/** A property of a resource's body; undefined: not told. */
export function property(known: Resources, path: string, name: string): unknown {
  const body = known.get(path)
  return isRecord(body) ? (body as Json)[name] : undefined
}
