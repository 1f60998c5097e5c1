/** Keeps one source's push subscription alive, reconnecting, and the connection records of its receivers true. */

import type { Feed } from '../live/feed.ts'
import type { Latest } from '../live/latest.ts'
import type { Interest, PushEvent } from '../manufacturers/plugin.ts'
import { readTrouble } from '../manufacturers/sources.ts'
import {
  applyLinkEvent,
  type Connection,
  type ConnectionStatus,
  type LinkEvent,
  newConnection,
} from '../model/connection.ts'
import { jitter, reconnectMs, steadyLinkMs } from '../model/pace.ts'
import { saveConnections } from '../store/connections.ts'
import type { Database } from '../store/database.ts'
import type { Ingest } from './ingest.ts'
import type { Log } from './log.ts'
import type { Poller } from './poller.ts'
import { pause } from './wait.ts'

export interface FollowDeps {
  readonly db: Database
  readonly ingest: Ingest
  readonly latest: Latest
  readonly feed: Pick<Feed, 'publish'>
  /** One a receiver, of this process and as stored. */
  readonly connections: Map<number, Connection>
  readonly log: Log
  now(): number
  random(): number
}

/** Subscribes, and again after every loss, until the signal aborts. Nothing to do for a plugin that cannot. */
export async function followForever(deps: FollowDeps, poller: Poller, signal: AbortSignal): Promise<void> {
  const { now, random, log } = deps
  const { id, plugin, link } = poller.heard
  if (plugin.subscribe === undefined) return
  const interest: Interest = { ids: poller.deviceIds, changed: poller.devicesChanged }
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    let openedAt: number | undefined
    try {
      await note(deps, poller, { type: 'trying', at: now() })
      for await (const event of plugin.subscribe(link, interest, signal)) {
        if (event.type === 'open') {
          openedAt = performance.now()
          poller.setLinked(true)
          await note(deps, poller, { type: 'opened', at: now() })
          tell(deps, poller, 'connected', 'is up')
          log.info({ source: id }, 'real-time link is up')
        } else takeEvent(deps, poller, event)
      }
    } catch (error) {
      const { error: reason } = readTrouble(error)
      log.warn({ source: id }, `real-time link: ${reason}`)
      const type = openedAt === undefined ? 'failed' : 'lost'
      await note(deps, poller, { type, at: now(), reason })
      if (type === 'lost') tell(deps, poller, 'disconnected', `is lost: ${reason}`)
    } finally {
      poller.setLinked(false)
    }
    if (signal.aborted) break
    if (openedAt !== undefined && performance.now() - openedAt >= steadyLinkMs) attempt = 1
    await pause(jitter(reconnectMs(attempt), random()), signal)
  }
  await note(deps, poller, { type: 'lost', at: now(), reason: 'Micwatch stopped' })
}

function tell({ feed }: FollowDeps, poller: Poller, status: ConnectionStatus, what: string): void {
  const { manufacturer } = poller.heard
  const message = `The real-time link of ${manufacturer} ${what}`
  feed.publish({ type: 'status_update', about: 'link', manufacturer, status, message })
}

function takeEvent(
  { ingest, latest, log }: FollowDeps,
  poller: Poller,
  event: Exclude<PushEvent, { type: 'open' }>,
): void {
  const { id: source, manufacturer } = poller.heard
  if (event.type === 'ignored') {
    log.debug({ source }, event.reason)
    return
  }
  const id = event.type === 'removed' ? event.id : event.observation.id
  const receiver = latest.byApiId(manufacturer, id)
  // Only polling makes receivers: it knows who a device is.
  if (receiver === undefined) {
    log.debug({ source, device: id }, 'pushed by a device that is not known yet')
    return
  }
  const isGone = event.type === 'removed' || event.observation.online === false
  const observations = event.type === 'removed' ? [] : [event.observation]
  if (observations[0]?.channels !== undefined) poller.noteTold(id)
  ingest.take({ manufacturer, observations, gone: isGone ? [receiver.id] : [] }).catch((error) => {
    log.error({ source, device: id, error: String(error) }, 'what was pushed could not be stored')
  })
}

/** Moves the connection records of the source's receivers; a database that is out of reach does not hold the link up. */
async function note(deps: FollowDeps, poller: Poller, event: LinkEvent): Promise<void> {
  const { db, latest, connections, log } = deps
  const { id, manufacturer, plugin } = poller.heard
  const changed: Connection[] = []
  for (const deviceId of poller.deviceIds()) {
    const receiver = latest.byApiId(manufacturer, deviceId)
    if (receiver === undefined) continue
    const before =
      connections.get(receiver.id) ?? newConnection(receiver.id, manufacturer, plugin.transport ?? 'websocket')
    const after = applyLinkEvent(before, event)
    connections.set(receiver.id, after)
    if (after !== before) changed.push(after)
  }
  if (changed.length === 0) return
  await db
    .transaction((tx) => saveConnections(tx, changed))
    .catch((error) => log.warn({ source: id, error: String(error) }, 'connection records could not be stored'))
}
