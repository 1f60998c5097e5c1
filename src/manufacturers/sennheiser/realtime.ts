/** Subscribes to changes over the event stream of a Sennheiser system. */

import { isRecord, parseJson } from '../../domain/json.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { parsePushedLevels } from '../../upstream/device-levels.ts'
import { parsePushed } from '../../upstream/device-report.ts'
import { openEventStream } from '../../upstream/push.ts'
import type { OnLevels, PushEvent, SubscriptionTargets } from '../plugin.ts'

export const streamPath = '/api/ssc/state/subscriptions'
const devicePath = '/api/v1/devices/'

/** Opens an event stream, and sends the list of subscribed devices initially and at every change. */
export async function* subscribe(
  client: UpstreamClient,
  targets: SubscriptionTargets,
  signal: AbortSignal,
  onLevels?: OnLevels,
): AsyncGenerator<PushEvent> {
  const ended = new AbortController()
  const lifetime = AbortSignal.any([signal, ended.signal])
  let updateError: unknown
  try {
    for await (const { event, data } of openEventStream(client, streamPath, lifetime)) {
      if (event === 'open') {
        const path = readSessionPath(client, data)
        const sent = await sendTargets(client, path, targets, lifetime)
        updateOnChange(client, path, targets, sent, lifetime).catch((error) => {
          updateError = error
          ended.abort()
        })
        yield { type: 'open' }
      } else if (event === 'message') yield* readChanges(data, onLevels)
      else if (event === 'close') throw new client.errors.ApiError('the system closed the event stream')
    }
    if (updateError !== undefined) throw updateError
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    ended.abort()
  }
}

function* readChanges(data: string, onLevels: OnLevels | undefined): Generator<PushEvent> {
  const changes = parseJson(data)
  if (!isRecord(changes)) return yield { type: 'ignored', reason: 'an event is not a JSON object' }
  for (const path in changes) {
    const event = readChange(path, changes[path], onLevels)
    if (event !== null) yield event
  }
}

/** Returns null if the change contains only levels, which are passed on. */
function readChange(path: string, fields: unknown, onLevels: OnLevels | undefined): PushEvent | null {
  const id = path.startsWith(devicePath) ? readId(path.slice(devicePath.length)) : ''
  if (id === '' || id.includes('/')) return { type: 'ignored', reason: 'an event does not name a device' }
  if (fields === null) return { type: 'removed', id }
  if (!isRecord(fields)) return { type: 'ignored', reason: 'an event has no fields' }
  const samples = onLevels === undefined ? null : parsePushedLevels(fields)
  if (samples !== null && onLevels?.(id, samples)) return null
  return { type: 'report', report: parsePushed(id, fields, familyOf) }
}

function readId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** Returns the path of the session resource. Rejects a path on another system or outside the stream path. */
export function readSessionPath(client: UpstreamClient, data: string): string {
  const opened = parseJson(data)
  const path = isRecord(opened) && typeof opened.path === 'string' ? opened.path : ''
  if (!path.startsWith(`${streamPath}/`))
    throw new client.errors.ApiError('invalid response: the event stream does not name its session')
  return path
}

interface SentTargets {
  /** Resolves when the targets change. */
  readonly changed: Promise<void>
}

async function updateOnChange(
  client: UpstreamClient,
  path: string,
  targets: SubscriptionTargets,
  initial: SentTargets,
  signal: AbortSignal,
): Promise<void> {
  for (let sent = initial; ; sent = await sendTargets(client, path, targets, signal)) await sent.changed
}

async function sendTargets(
  client: UpstreamClient,
  path: string,
  targets: SubscriptionTargets,
  signal: AbortSignal,
): Promise<SentTargets> {
  // Watch before reading the list, so that a change during the request is not missed.
  const changed = targets.changed(signal)
  changed.catch(() => {})
  const resources = targets.ids().map((id) => devicePath + encodeURIComponent(id))
  await client.request('PUT', path, { body: resources, signal })
  return { changed }
}

const families: readonly (readonly [RegExp, string])[] = [
  [/EW-?DX/i, 'ewdx'],
  [/SPECTERA/i, 'spectera'],
  [/(EM ?6000|DIGITAL ?6000|D6000)/i, 'd6000'],
  [/EM ?2(000|050)/i, 'em2000'],
  [/CHG ?70N/i, 'chg70n'],
  [/^L ?6000/i, 'l6000'],
  [/^SL ?(DW ?\dCH|MCR)/i, 'slmcr'],
  [/^SL ?(DW|Rack)/i, 'slrack'],
  [/CHG ?2N/i, 'chg2n'],
  [/CHG ?4N/i, 'chg4n'],
  [/G4/i, 'g4'],
  [/G3/i, 'g3'],
]

export function familyOf(model: string): string | undefined {
  return families.find(([pattern]) => pattern.test(model))?.[1]
}
