/** The section `heartbeat` of the configuration: requests to a dead man's switch. */

import type Type from 'typebox'
import { minHeartbeatSeconds } from '../domain/access/limits.ts'
import { fullAddress, integer, section } from './fields.ts'

export const HeartbeatSection = section({
  url: fullAddress('https://hc-ping.com/<uuid>'),
  interval: integer(minHeartbeatSeconds, 86_400),
})

export interface HeartbeatConfig {
  /** A secret: who knows it can send in place of Micwatch. */
  readonly url: string
  /** Seconds. */
  readonly interval: number
}

/** Returns null without any key, and `incomplete` without an address. */
export function toHeartbeat(entry: Type.Static<typeof HeartbeatSection>): HeartbeatConfig | null | 'incomplete' {
  if (Object.keys(entry).length === 0) return null
  const { url, interval = 60 } = entry
  return url === undefined ? 'incomplete' : { url, interval }
}
