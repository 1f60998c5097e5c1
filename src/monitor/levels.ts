/**
 * Levels for other processes on the same database. They reach the disk by themselves only at the end of a cycle; whoever
 * else shows them hears of them at once where there is Redis, and reads them from the database where there is none.
 */

import type { Redis } from '../live/redis.ts'
import type { Receiver } from '../model/receiver.ts'
import type { Ingest, RemoteLevels } from './ingest.ts'
import type { Log } from './log.ts'
import { pause } from './wait.ts'

interface LevelDeps {
  readonly ingest: Pick<Ingest, 'ingest'>
  readonly log: Log
  manufacturers(): readonly { readonly code: string }[]
}

/** With the half second in which others look for changes: what is pushed here is seen there within a second. */
const saveEveryMs = 250

/** Writes down the levels that are not yet, before leaving for instance. */
export async function saveLevels({ ingest, log, manufacturers }: LevelDeps): Promise<void> {
  for (const { code } of manufacturers()) {
    await ingest.ingest({ manufacturer: code, reports: [], endsCycle: true }).catch((error) => {
      log.error({ manufacturer: code, error: String(error) }, 'the last levels could not be stored')
    })
  }
}

/** Writes levels down as they come, for as long as `isNeeded` says so: see docs/decisions/0008-subscriptions.md. */
export async function keepSavingLevels(deps: LevelDeps, isNeeded: () => boolean, signal: AbortSignal): Promise<void> {
  while (await pause(saveEveryMs, signal)) if (isNeeded()) await saveLevels(deps)
  await saveLevels(deps)
}

// --- By word of mouth -------------------------------------------------------------------------------------------------

const topic = 'levels'
/** Everything of a moment in one message: a system pushes hundreds of levels at once. */
const tellEveryMs = 50
const receiversInMessage = 200

export interface LevelPublisher {
  /** A receiver as this process heard it. */
  publish(receiver: Receiver): void
  close(): void
}

export interface LevelPublisherDeps {
  readonly redis: Redis
  /** Names this process. */
  readonly nodeId: string
  /** What others have heard. */
  onLevels(levels: readonly RemoteLevels[]): void
}

export function createLevelPublisher({ redis, nodeId, onLevels }: LevelPublisherDeps): LevelPublisher {
  const waiting = new Map<number, Receiver>()
  const told = new Map<number, Receiver['channels']>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const tell = () => {
    timer = undefined
    const receivers = [...waiting.values()].map((one) => toHeard(one, told.get(one.id)))
    for (const { id, channels } of waiting.values()) told.set(id, channels)
    waiting.clear()
    for (let at = 0; at < receivers.length; at += receiversInMessage) {
      redis.publish(topic, JSON.stringify({ owner: nodeId, receivers: receivers.slice(at, at + receiversInMessage) }))
    }
  }
  redis.subscribe(topic, (text) => {
    const message = parseMessage(text)
    if (message !== null && message.owner !== nodeId) onLevels(message.receivers)
  })
  return {
    publish(receiver) {
      if (!redis.isUp) return
      waiting.set(receiver.id, receiver)
      timer ??= setTimeout(tell, tellEveryMs)
    },
    close: () => clearTimeout(timer),
  }
}

/** Of one that is merely still there, no channels; of any other all, so that a message that is lost is made good by the next. */
function toHeard(
  { id, last_seen, is_active, channels }: Receiver,
  told: Receiver['channels'] | undefined,
): RemoteLevels {
  const news = channels === told ? [] : channels
  return { id, last_seen, is_active, channels: news.map(({ id: _, slot: __, ...reading }) => reading) }
}

/** Null when it is none of ours: others may use the same Redis. */
function parseMessage(text: string): { owner: string; receivers: readonly RemoteLevels[] } | null {
  try {
    const { owner, receivers } = JSON.parse(text)
    if (typeof owner !== 'string' || !Array.isArray(receivers)) return null
    return { owner, receivers: receivers.filter(isHeard) }
  } catch {
    return null
  }
}

function isHeard(value: unknown): value is RemoteLevels {
  if (typeof value !== 'object' || value === null) return false
  const { id, last_seen, is_active, channels } = value as Record<string, unknown>
  const isTold = Number.isInteger(id) && Number.isInteger(last_seen) && typeof is_active === 'boolean'
  return isTold && Array.isArray(channels) && channels.every((one) => Number.isInteger(one?.channel))
}
