/** Subscribes to changes of a Shure system over its WebSocket. */

import { isRecord } from '../../domain/json.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { parsePushed } from '../../upstream/device-api.ts'
import { readText } from '../../upstream/fields.ts'
import { openWebSocket } from '../../upstream/push.ts'
import type { PushEvent, SubscriptionTargets } from '../plugin.ts'
import { familyOf } from './family.ts'

/** Subscribes to all devices of the system: its WebSocket always pushes all changes, so the targets are not needed. */
export async function* subscribe(
  client: UpstreamClient,
  _targets: SubscriptionTargets,
  signal: AbortSignal,
): AsyncGenerator<PushEvent> {
  const frames = openWebSocket(client, client.settings.websocketUrl ?? derivedUrl(client), signal)
  for await (const frame of frames) yield frame === null ? { type: 'open' } : readFrame(frame)
}

function readFrame(text: string): PushEvent {
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return { type: 'ignored', reason: 'a frame is not JSON' }
  }
  const id = isRecord(frame) ? readText(frame.device_id) : undefined
  if (!isRecord(frame) || typeof id !== 'string') return { type: 'ignored', reason: 'a frame has no device id' }
  switch (frame.type) {
    case 'device_update':
    case 'status_update':
      return { type: 'report', report: parsePushed(id, frame, familyOf) }
    case 'device_removed':
      return { type: 'removed', id }
    default:
      return { type: 'ignored', reason: `frames of type ${readText(frame.type)} are not supported` }
  }
}

function derivedUrl(client: UpstreamClient): string {
  return `${client.settings.baseUrl}/api/v1/ws`
}
