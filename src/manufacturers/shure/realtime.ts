/** Subscribes to changes of a Shure system over its WebSocket. */

import { isRecord, type Json, parseJson } from '../../domain/json.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { parsePushedLevels } from '../../upstream/device-levels.ts'
import { parsePushed } from '../../upstream/device-report.ts'
import { readText } from '../../upstream/fields.ts'
import { openWebSocket } from '../../upstream/push.ts'
import type { OnLevels, PushEvent, SubscriptionTargets } from '../plugin.ts'

/** The WebSocket always pushes the changes of all devices, so the targets are not needed. */
export async function* subscribe(
  client: UpstreamClient,
  _targets: SubscriptionTargets,
  signal: AbortSignal,
  onLevels?: OnLevels,
): AsyncGenerator<PushEvent> {
  const url = client.settings.websocketUrl ?? derivedUrl(client)
  const takeFrame = (text: string) => onLevels !== undefined && takeLevels(text, onLevels)
  for await (const frame of openWebSocket(client, url, signal, { takeFrame })) {
    yield frame === null ? { type: 'open' } : readFrame(frame)
  }
}

/** Passes on the levels of a frame that contains nothing else. Returns true if it did. */
function takeLevels(text: string, onLevels: OnLevels): boolean {
  const frame = parseFrame(text)
  if (frame === null || frame.type !== 'device_update') return false
  const id = readText(frame.device_id)
  const samples = typeof id === 'string' ? parsePushedLevels(frame) : null
  return typeof id === 'string' && samples !== null && onLevels(id, samples)
}

function parseFrame(text: string): Json | null {
  const frame = parseJson(text)
  return isRecord(frame) ? frame : null
}

function readFrame(text: string): PushEvent {
  const frame = parseFrame(text)
  if (frame === null) return { type: 'ignored', reason: 'a frame is not a JSON object' }
  const id = readText(frame.device_id)
  if (typeof id !== 'string') return { type: 'ignored', reason: 'a frame has no device id' }
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

const families: readonly (readonly [RegExp, string])[] = [
  [/^ULX-?D/i, 'ulxd'],
  [/^QLX-?D/i, 'qlxd'],
  [/^SLX-?D/i, 'slxd'],
  [/^(ADPSM|ADT[DQ])/i, 'adpsm'],
  [/^(AD\d|ANX\d|AXT|AXIENT)/i, 'ad'],
  [/^(UHF-?R|UR4)/i, 'uhfr'],
  [/^(PSM-?1000|P10)/i, 'psm1000'],
  [/^MXWAP/i, 'mxw'],
]

export function familyOf(model: string): string | undefined {
  return families.find(([pattern]) => pattern.test(model))?.[1]
}
