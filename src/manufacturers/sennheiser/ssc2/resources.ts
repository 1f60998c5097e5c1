/**
 * Resources reported by an SSC 2 device. Sources: Sennheiser's SSC 2 specification 2.3, the OpenAPI descriptions of
 * EW-DX (1.7) and Spectera (18.1), and reports from users.
 */
import { isRecord, type Json } from '../../../domain/json.ts'
import type { ReportedField } from '../../../upstream/field-table.ts'

/** The last body of every resource; null if the resource is missing or unavailable. */
export type Resources = ReadonlyMap<string, unknown>

export const identityPath = '/api/device/identity'
export const sitePath = '/api/device/site'
export const firmwarePath = '/api/firmware/update/state'
export const statePath = '/api/device/state'
export const versionPath = '/api/ssc/version'
/** The device sends this resource up to sixty times a second while it is subscribed to. */
export const meteringPath = '/api/audio/metering'
export const packPrefix = '/api/mts/paired/'
export const antennaPrefix = '/api/rf/antennas/'
export const outputPrefix = '/api/audio/outputs/'

export const entitlementPath = '/api/device/entitlement'
export const interfacePath = (name: string) => `/api/audio/interface/${name}/status`

/** The path of a resource in API 18 (firmware 1.4.1) -> its path in API 17 (firmware 1.3). */
const earlierPaths = new Map([
  [meteringPath, '/api/audio/levels'],
  [interfacePath('aoip'), interfacePath('audionetwork')],
])
const currentPaths = new Map([...earlierPaths].map(([path, earlier]) => [earlier, path]))

export function earlierPathOf(path: string): string | undefined {
  return earlierPaths.get(path)
}

export function currentPathOf(path: string): string {
  return currentPaths.get(path) ?? path
}

/** A list whose entries are also resources. The device sends the whole list first, then changed entries. */
interface Collection {
  readonly path: string
  /** Matches the paths that events use for an entry; `toPath` returns the path under which the entry is stored. */
  readonly entryPath: RegExp
  readonly toPath: (id: string) => string
  readonly idProperty: string
  /** The property with the body, if the entry wraps it. */
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
    path: '/api/rf/antennas',
    entryPath: /^\/api\/rf\/antennas\/([^/]+)$/,
    toPath: (id) => antennaPrefix + id,
    idProperty: 'antennaPortId',
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

/** The resources of a transmitter exist only while it is linked. */
export function isOfTransmitter(path: string): boolean {
  return path.startsWith('/api/transmitters/')
}

const maxResources = 1000

/** Bodies are merged, because some devices send only the changed properties. */
export function applyResource(resources: Map<string, unknown>, path: string, body: unknown): void {
  const collection = collections.find((candidate) => candidate.path === path)
  const id = collection !== undefined && isRecord(body) ? body[collection.idProperty] : undefined
  if (collection !== undefined && Array.isArray(body)) applyList(resources, collection, body)
  // Some devices send a changed entry on the path of the list.
  else if (collection !== undefined && isId(id))
    applyBody(resources, collection.toPath(String(id)), bodyOf(collection, body))
  else applyBody(resources, toStoredPath(path), body)
}

/** Returns the path under which the resource is stored. It differs only for an entry of a collection. */
function toStoredPath(path: string): string {
  for (const { entryPath, toPath } of collections) {
    const [, id] = entryPath.exec(path) ?? []
    if (id !== undefined) return toPath(id)
  }
  return path
}

function isId(id: unknown): boolean {
  return typeof id === 'string' || typeof id === 'number'
}

function bodyOf({ bodyProperty }: Collection, entry: unknown): unknown {
  return bodyProperty !== undefined && isRecord(entry) ? entry[bodyProperty] : entry
}

function applyList(resources: Map<string, unknown>, collection: Collection, entries: readonly unknown[]): void {
  const { toPath, idProperty } = collection
  const identified = entries.filter(isRecord).filter((entry) => isId(entry[idProperty]))
  const bodies = new Map(identified.map((entry) => [toPath(String(entry[idProperty])), bodyOf(collection, entry)]))
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

/** Returns the fields of a reported body. Their addresses have `*` in place of a number and of the id of an entry. */
export function listFields(path: string, body: unknown): readonly ReportedField[] {
  if (path === entitlementPath) return [[path, body]]
  const list = collections.find((candidate) => candidate.path === path)
  if (list !== undefined) {
    return (Array.isArray(body) ? body : [body]).flatMap((entry) => {
      const id = isRecord(entry) ? String(entry[list.idProperty]) : ''
      return listProperties(list.toPath('*'), bodyOf(list, entry), list.toPath(id))
    })
  }
  const entry = collections.find(({ entryPath }) => entryPath.test(path))
  return listProperties(entry?.toPath('*') ?? path.replace(/\d+/g, '*'), body, toStoredPath(path))
}

function listProperties(address: string, body: unknown, path: string): readonly ReportedField[] {
  if (!isRecord(body)) return body === null ? [] : [[address, body, path]]
  if (path !== meteringPath) {
    return Object.entries(body).map(([name, value]) => [`${address} ${name}`, value, `${path} ${name}`])
  }
  const lists = Object.entries(body).filter(([name]) => name.endsWith('Out'))
  return (lists.length === 0 ? [['', body]] : lists).map(([name, value]) => [`${path} *Out`, value, `${path} ${name}`])
}

/** Returns undefined if the property was not reported. */
export function property(resources: Resources, path: string, name: string): unknown {
  const body = resources.get(path)
  return isRecord(body) ? (body as Json)[name] : undefined
}

/** Returns the entries of a collection. */
export function listBodies(resources: Resources, prefix: string): Json[] {
  return [...resources].flatMap(([path, body]) => (path.startsWith(prefix) && isRecord(body) ? [body] : []))
}
