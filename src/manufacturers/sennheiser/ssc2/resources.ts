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
  readonly entryPath: RegExp
  readonly toPath: (id: string) => string
  readonly idProperty: string
  /** An entry's body, where it is wrapped. */
  readonly bodyProperty?: string
}

const collections: readonly Collection[] = [
  {
    path: '/api/transmitters',
    entryPath: /^\/api\/transmitters\/([^/]+)$/,
    toPath: (id) => `/api/transmitters/${id}`,
    idProperty: 'id',
    bodyProperty: 'transmitter',
  },
  {
    path: '/api/rf/channels',
    entryPath: /^\/api\/rf\/channels\/([^/]+)$/,
    toPath: (id) => `/api/rf/channels/${id}`,
    idProperty: 'rfChannelId',
  },
  {
    path: '/api/mts/paired/all',
    entryPath: /^\/api\/mts\/paired\/(?:all\/)?(?!all$)([^/]+)$/,
    toPath: (id) => packPrefix + id,
    idProperty: 'mtUid',
  },
  {
    path: '/api/audio/outputs',
    entryPath: /^\/api\/audio\/outputs\/([^/]+)$/,
    toPath: (id) => outputPrefix + id,
    idProperty: 'outputId',
  },
]

const maxResources = 1000

/** Takes in what one resource tells: some devices tell changed properties alone, so bodies are merged. */
export function applyResource(resources: Map<string, unknown>, path: string, body: unknown): void {
  const collection = collections.find((one) => one.path === path)
  if (collection !== undefined && Array.isArray(body)) applyList(resources, collection, body)
  else {
    const [, entry] =
      collections.map(({ entryPath, toPath }) => matchEntry(path, entryPath, toPath)).find((one) => one !== null) ?? []
    applyBody(resources, entry ?? path, body)
  }
}

function matchEntry(path: string, entry: RegExp, keep: (id: string) => string): readonly [string, string] | null {
  const [, id] = entry.exec(path) ?? []
  return id === undefined ? null : [id, keep(id)]
}

function applyList(
  resources: Map<string, unknown>,
  { toPath, idProperty, bodyProperty }: Collection,
  entries: readonly unknown[],
): void {
  const named = entries.filter(isRecord).filter((entry) => ['string', 'number'].includes(typeof entry[idProperty]))
  const bodies = new Map(
    named.map((entry) => [toPath(String(entry[idProperty])), bodyProperty === undefined ? entry : entry[bodyProperty]]),
  )
  const prefix = toPath('')
  for (const path of resources.keys()) {
    const [id] = path.startsWith(prefix) ? path.slice(prefix.length).split('/') : []
    if (id !== undefined && !bodies.has(toPath(id))) applyBody(resources, toPath(id), null)
  }
  for (const [path, value] of bodies) applyBody(resources, path, value)
}

function applyBody(resources: Map<string, unknown>, path: string, body: unknown): void {
  if (!resources.has(path) && resources.size >= maxResources) return
  const before = resources.get(path)
  resources.set(path, isRecord(before) && isRecord(body) ? { ...before, ...body } : body)
  if (body !== null) return
  // What was below it went with it.
  for (const child of resources.keys()) if (child.startsWith(`${path}/`)) resources.set(child, null)
}

/** A property of a resource's body; undefined: not told. */
export function property(resources: Resources, path: string, name: string): unknown {
  const body = resources.get(path)
  return isRecord(body) ? (body as Json)[name] : undefined
}
