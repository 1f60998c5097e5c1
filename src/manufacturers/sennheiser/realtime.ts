/** What a Sennheiser system pushes over its event stream. */

import type { UpstreamClient } from '../../upstream/client.ts'
import { parsePushed } from '../../upstream/device-api.ts'
import { isRecord, type Json } from '../../upstream/fields.ts'
import { openEventStream } from '../../upstream/push.ts'
import type { PushEvent, SubscriptionTargets } from '../plugin.ts'
import { familyOf } from './family.ts'

export const streamPath = '/api/ssc/state/subscriptions'
const devicePath = '/api/v1/devices/'

/** Opens a stream, tells it which devices are wanted, and again whenever that changes. */
export async function* subscribe(
  client: UpstreamClient,
  interest: SubscriptionTargets,
  signal: AbortSignal,
): AsyncGenerator<PushEvent> {
  const ended = new AbortController()
  const lifetime = AbortSignal.any([signal, ended.signal])
  let trouble: unknown
  try {
    for await (const { event, data } of openEventStream(client, streamPath, lifetime)) {
      if (event === 'open') {
        const path = readSessionPath(client, data)
        const asked = await askFor(client, path, interest, lifetime)
        keepAsking(client, path, interest, asked, lifetime).catch((error) => {
          trouble = error
          ended.abort()
        })
        yield { type: 'open' }
      } else if (event === 'message') yield* readChanges(data)
      else if (event === 'close') throw new client.errors.ApiError('the system closed the event stream')
    }
    if (trouble !== undefined) throw trouble
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    ended.abort()
  }
}

function* readChanges(data: string): Generator<PushEvent> {
  const changes = parseJson(data)
  if (!isRecord(changes)) return yield { type: 'ignored', reason: 'an event is not a JSON object' }
  for (const [path, fields] of Object.entries(changes)) yield readChange(path, fields)
}

function readChange(path: string, fields: unknown): PushEvent {
  const id = path.startsWith(devicePath) ? readId(path.slice(devicePath.length)) : ''
  if (id === '' || id.includes('/')) return { type: 'ignored', reason: 'an event is not about a device' }
  if (fields === null) return { type: 'removed', id }
  if (!isRecord(fields)) return { type: 'ignored', reason: 'an event tells no fields' }
  return { type: 'told', report: parsePushed(id, fields as Json, familyOf) }
}

function readId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The session's own resource; only ever on the system we are talking to. */
export function readSessionPath(client: UpstreamClient, data: string): string {
  const opened = parseJson(data)
  const path = isRecord(opened) && typeof opened.path === 'string' ? opened.path : ''
  if (!path.startsWith(`${streamPath}/`))
    throw new client.errors.ApiError('invalid response: the event stream names no session')
  return path
}

interface Asked {
  /** Resolves when something else is wanted. */
  readonly changed: Promise<void>
}

async function keepAsking(
  client: UpstreamClient,
  path: string,
  interest: SubscriptionTargets,
  first: Asked,
  signal: AbortSignal,
): Promise<void> {
  for (let asked = first; ; asked = await askFor(client, path, interest, signal)) await asked.changed
}

async function askFor(
  client: UpstreamClient,
  path: string,
  interest: SubscriptionTargets,
  signal: AbortSignal,
): Promise<Asked> {
  // From before the list is read: what changes while it is on its way is not missed.
  const changed = interest.changed(signal)
  changed.catch(() => {})
  const resources = interest.ids().map((id) => devicePath + encodeURIComponent(id))
  await client.request('PUT', path, { body: resources, signal })
  return { changed }
}
