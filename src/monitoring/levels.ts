/**
 * Passes levels to other processes on the same database. Normally levels are stored only at the end of a polling cycle,
 * so other processes would see them late. With Redis, they are also published there; without Redis, they are
 * stored every 250 ms.
 */

import type { Receiver } from '../domain/equipment/receiver.ts'
import type { Redis } from '../state/redis.ts'
import type { Ingest } from './ingest.ts'
import type { Log } from './log.ts'
import type { RemoteLevels } from './remote-levels.ts'
import { pause } from './wait.ts'

interface LevelDeps {
  readonly ingest: Pick<Ingest, 'ingest'>
  readonly log: Log
  manufacturers(): readonly { readonly code: string }[]
}

/** Other processes read changes every half second, so they see pushed levels within a second. */
const saveEveryMs = 250

/** Stores unsaved levels, for example before the process ends. */
export async function saveLevels({ ingest, log, manufacturers }: LevelDeps): Promise<void> {
  for (const { code } of manufacturers()) {
    await ingest.ingest({ manufacturer: code, reports: [], endsCycle: true }).catch((error) => {
      log.error({ manufacturer: code, error: String(error) }, 'levels could not be stored')
    })
  }
}

/** Stores levels continuously while `isNeeded` returns true: see docs/decisions/0008-subscriptions.md. */
export async function keepSavingLevels(deps: LevelDeps, isNeeded: () => boolean, signal: AbortSignal): Promise<void> {
  while (await pause(saveEveryMs, signal)) if (isNeeded()) await saveLevels(deps)
  await saveLevels(deps)
}

// --- Redis ------------------------------------------------------------------------------------------------------------

const topic = 'levels'
/** Levels are collected for this time, because a system pushes hundreds of levels at once. */
const publishEveryMs = 50
const maxReceiversPerMessage = 200

export interface LevelPublisher {
  /** Publishes the levels of a receiver of which this process has received a report. */
  publish(receiverId: number): void
  close(): void
}

export interface LevelPublisherDeps {
  readonly redis: Redis
  /** Identifies this process. */
  readonly nodeId: string
  receiver(id: number): Receiver | undefined
  /** Called with levels that other processes received. */
  onLevels(levels: readonly RemoteLevels[]): void
}

export function createLevelPublisher({ redis, nodeId, receiver, onLevels }: LevelPublisherDeps): LevelPublisher {
  const pending = new Set<number>()
  const published = new Map<number, Receiver['channels']>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const publishPending = () => {
    timer = undefined
    const current = [...pending].map(receiver).filter((found) => found !== undefined)
    const receivers = current.map((found) => toRemoteLevels(found, published.get(found.id)))
    for (const { id, channels } of current) published.set(id, channels)
    pending.clear()
    for (let start = 0; start < receivers.length; start += maxReceiversPerMessage) {
      const message = { owner: nodeId, receivers: receivers.slice(start, start + maxReceiversPerMessage) }
      redis.publish(topic, JSON.stringify(message))
    }
  }
  redis.subscribe(topic, (text) => {
    const message = parseMessage(text)
    if (message !== null && message.owner !== nodeId) onLevels(message.receivers)
  })
  return {
    publish(receiverId) {
      if (!redis.isUp) return
      pending.add(receiverId)
      timer ??= setTimeout(publishPending, publishEveryMs)
    },
    close: () => clearTimeout(timer),
  }
}

/**
 * Returns a receiver's entry in a message: without channels if none has changed, otherwise with all of them, so that it
 * is complete even if an earlier message was lost. Other processes load conditions from the database.
 */
function toRemoteLevels(
  { id, last_seen, is_active, channels }: Receiver,
  published: Receiver['channels'] | undefined,
): RemoteLevels {
  const changed = channels === published ? [] : channels
  const readings = changed.map(
    ({ id: _, slot: __, profile: ___, condition: ____, last_transmitter: _____, ...reading }) => reading,
  )
  return { id, last_seen, is_active, channels: readings }
}

/** Returns null if the message has a different format, because other programs may use the same Redis server. */
function parseMessage(text: string): { owner: string; receivers: readonly RemoteLevels[] } | null {
  try {
    const { owner, receivers } = JSON.parse(text)
    if (typeof owner !== 'string' || !Array.isArray(receivers)) return null
    return { owner, receivers: receivers.filter(isRemoteLevels) }
  } catch {
    return null
  }
}

function isRemoteLevels(value: unknown): value is RemoteLevels {
  if (typeof value !== 'object' || value === null) return false
  const { id, last_seen, is_active, channels } = value as Record<string, unknown>
  const isReceiver = Number.isInteger(id) && Number.isInteger(last_seen) && typeof is_active === 'boolean'
  return isReceiver && Array.isArray(channels) && channels.every((reading) => Number.isInteger(reading?.channel))
}
