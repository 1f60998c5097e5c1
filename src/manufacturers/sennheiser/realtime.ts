/** What a Sennheiser system pushes over its event stream. */

import { parsePushed } from '../../upstream/device-api.ts'
import { isRecord, type Json } from '../../upstream/fields.ts'
import type { Link } from '../../upstream/link.ts'
import { openEventStream } from '../../upstream/push.ts'
import type { Interest, PushEvent } from '../plugin.ts'
import { familyOf } from './family.ts'

const streamPath = '/api/ssc/state/subscriptions'
const devicePath = '/api/v1/devices/'

/** Opens a stream, tells it which devices are wanted, and again whenever that changes. */
export async function* subscribe(link: Link, interest: Interest, signal: AbortSignal): AsyncGenerator<PushEvent> {
  const ended = new AbortController()
  const lifetime = AbortSignal.any([signal, ended.signal])
  let trouble: unknown
  try {
    for await (const { event, data } of openEventStream(link, streamPath, lifetime)) {
      if (event === 'open') {
        const path = readSessionPath(link, data)
        await askFor(link, path, interest, lifetime)
        keepAsking(link, path, interest, lifetime).catch((error) => {
          trouble = error
          ended.abort()
        })
        yield { type: 'open' }
      } else if (event === 'message') yield* readChanges(data)
      else if (event === 'close') throw new link.errors.ApiError('the system closed the event stream')
    }
    if (trouble !== undefined && !signal.aborted) throw trouble
  } finally {
    ended.abort()
  }
}

export function* readChanges(data: string): Generator<PushEvent> {
  let changes: unknown
  try {
    changes = JSON.parse(data)
  } catch {
    changes = undefined
  }
  if (!isRecord(changes)) return yield { type: 'ignored', reason: 'an event is not a JSON object' }
  for (const [path, fields] of Object.entries(changes)) yield readChange(path, fields)
}

function readChange(path: string, fields: unknown): PushEvent {
  const id = path.startsWith(devicePath) ? decodeURIComponent(path.slice(devicePath.length)) : ''
  if (id === '' || id.includes('/')) return { type: 'ignored', reason: 'an event is not about a device' }
  if (fields === null) return { type: 'removed', id }
  if (!isRecord(fields)) return { type: 'ignored', reason: 'an event tells no fields' }
  return { type: 'told', observation: parsePushed(id, fields as Json, familyOf) }
}

/** The session's own resource; only ever on the system we are talking to. */
function readSessionPath(link: Link, data: string): string {
  const opened: unknown = JSON.parse(data)
  const path = isRecord(opened) && typeof opened.path === 'string' ? opened.path : ''
  if (!path.startsWith(`${streamPath}/`))
    throw new link.errors.ApiError('invalid response: the event stream names no session')
  return path
}

async function keepAsking(link: Link, path: string, interest: Interest, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await interest.changed(signal)
    await askFor(link, path, interest, signal)
  }
}

async function askFor(link: Link, path: string, interest: Interest, signal: AbortSignal): Promise<void> {
  const resources = interest.ids().map((id) => devicePath + encodeURIComponent(id))
  await link.request('PUT', path, { body: resources, signal })
}
