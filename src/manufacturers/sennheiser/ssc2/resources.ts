/**
 * Resources reported by an SSC 2 device. Sources: Sennheiser's SSC 2 specification 2.3, the OpenAPI descriptions of
 * EW-DX (1.7) and Spectera (18.1), and reports from users.
 */
import { isRecord, type Json } from '../../../domain/json.ts'

/** The last body of every resource; null if the resource is missing or unavailable. */
export type Resources = ReadonlyMap<string, unknown>

export const identityPath = '/api/device/identity'
export const sitePath = '/api/device/site'
export const firmwarePath = '/api/firmware/update/state'
export const versionPath = '/api/ssc/version'
/** The device sends this resource up to sixty times a second while it is subscribed to. */
export const meteringPath = '/api/audio/metering'
export const packPrefix = '/api/mts/paired/'
export const outputPrefix = '/api/audio/outputs/'

/** A list whose entries are also resources: the device sends the whole list first, then changed entries. */
interface Collection {
  readonly path: string
  /** Matches the paths that events use for an entry; `toPath` returns the path under which the entry is stored. */
  readonly entryPath: RegExp
  readonly toPath: (id: string) => string
  readonly idProperty: string
  /** Property that contains the body, if the entry wraps it. */
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

/** Applies a reported body. Bodies are merged, because some devices send only the changed properties. */
export function applyResource(resources: Map<string, unknown>, path: string, body: unknown): void {
  const collection = collections.find((candidate) => candidate.path === path)
  if (collection !== undefined && Array.isArray(body)) applyList(resources, collection, body)
  else applyBody(resources, toStoredPath(path), body)
}

/** Returns the path under which the resource is stored: the same path, unless it is an entry of a collection. */
function toStoredPath(path: string): string {
  for (const { entryPath, toPath } of collections) {
    const [, id] = entryPath.exec(path) ?? []
    if (id !== undefined) return toPath(id)
  }
  return path
}

function applyList(
  resources: Map<string, unknown>,
  { toPath, idProperty, bodyProperty }: Collection,
  entries: readonly unknown[],
): void {
  const identified = entries.filter(isRecord).filter((entry) => ['string', 'number'].includes(typeof entry[idProperty]))
  const bodies = new Map(
    identified.map((entry) => [
      toPath(String(entry[idProperty])),
      bodyProperty === undefined ? entry : entry[bodyProperty],
    ]),
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
  // Removing a resource removes its children.
  for (const child of resources.keys()) if (child.startsWith(`${path}/`)) resources.set(child, null)
}

/** Returns a property of a resource's body; undefined if it was not reported. */
export function property(resources: Resources, path: string, name: string): unknown {
  const body = resources.get(path)
  return isRecord(body) ? (body as Json)[name] : undefined
}
