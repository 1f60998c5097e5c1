/**
 * Keeps one source's push subscription alive, reconnecting, and the connection records of its receivers true. Only one
 * process at a time keeps a source's subscription, by a lease of its own: it need not be the one that polls.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Counters } from '../live/counters.ts'
import type { ReceiverStore } from '../live/receiver-store.ts'
import type { UnitStore } from '../live/unit-store.ts'
import type { PushEvent, SubscriptionTargets } from '../manufacturers/plugin.ts'
import { type MonitoredSource, toSourceFailure } from '../manufacturers/sources.ts'
import { credentialsPauseMs, jitter, nextAttempt, reconnectMs } from '../model/rate-limit.ts'
import { type DeviceReport, withSummaryAsChannel } from '../model/receiver.ts'
import { isTimeSliceUsed } from '../time-slice.ts'
import { type Connections, subscriptionLease } from './connections.ts'
import type { Ingest } from './ingest.ts'
import type { AcquiredLease, LeaseDeps, LeaseManager } from './lease-manager.ts'
import type { Batch } from './plan-batch.ts'
import { childLifetime, type Lifetime, pause } from './wait.ts'

export interface SubscriptionDeps extends LeaseDeps {
  readonly leaseManager: LeaseManager
  readonly ingest: Ingest
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly connections: Connections
  readonly counters: Counters
  now(): number
  random(): number
}

export interface SubscriptionHooks {
  onConnectionChange?(isUp: boolean): void
  /** The link told levels of this device. */
  onLevelsReceived?(deviceId: string): void
  /** What this device tells is not its receiver's: another stands in its place. */
  isReplaced?(deviceId: string): boolean
  /** The system asked for a pause when the link was tried. */
  onHold?(error: string): Promise<void>
  /** Somebody else keeps the subscription. */
  onStandBy?(holder: string): void
  /** The system took our credentials after this time (of `performance.now()`), on whatever occasion. */
  wasAcceptedAfter?(time: number): boolean
}

/** A large system tells of everything at once; of hundreds of devices none tells as much, and none has to wait for the others. */
const toldInARow = 32

/** Whether the system has let us in since then is looked at this often. */
const lookEveryMs = 250

/** Subscribes, and again after every loss, until the signal aborts. Nothing to do for a form that cannot. */
export async function keepSubscribed(
  deps: SubscriptionDeps,
  source: MonitoredSource,
  signal: AbortSignal,
  hooks: SubscriptionHooks = {},
): Promise<void> {
  if (source.adapter.subscribe === undefined) return
  const work = ({ signal, idleMs }: AcquiredLease) => {
    // Whoever polls sees to a pause that the system asked for.
    if (idleMs !== null) source.client.takeOver({ idleMs, holdMs: 0 })
    return keepLink(deps, source, signal, hooks)
  }
  const { onStandBy } = hooks
  await deps.leaseManager.runWhileHeld(
    subscriptionLease(source.id),
    signal,
    work,
    onStandBy === undefined ? {} : { onStandBy },
  )
}

async function keepLink(
  deps: SubscriptionDeps,
  heard: MonitoredSource,
  signal: AbortSignal,
  hooks: SubscriptionHooks,
): Promise<void> {
  const { connections, now, random, log } = deps
  const { id: source } = heard
  try {
    for (let attempt = 0; ; ) {
      if (!(await wanted(connections, source, signal))) break
      const ending = await connectOnce(deps, heard, signal, hooks)
      if (signal.aborted) break
      attempt = ending === 'unwanted' ? 0 : nextAttempt(attempt, ending.heldMs)
      if (ending === 'unwanted') continue
      const refusedAt = performance.now()
      if (!(await pause(jitter(reconnectMs(attempt, heard.client.resume.retryMs), random()), signal))) break
      if (ending.isRefused) await untilAccepted(refusedAt, signal, hooks)
    }
  } finally {
    log.debug({ source }, 'real-time link is given up')
    await connections.record(source, { type: 'ended', at: now(), reason: 'nobody keeps this link at the moment' })
  }
}

/** Credentials were refused: nothing is gained by asking again before they are right, or a minute has passed. */
async function untilAccepted(refusedAt: number, signal: AbortSignal, hooks: SubscriptionHooks): Promise<void> {
  while (performance.now() - refusedAt < credentialsPauseMs && hooks.wasAcceptedAfter?.(refusedAt) !== true) {
    if (!(await pause(lookEveryMs, signal))) return
  }
}

interface Ending {
  /** How long it was up. */
  readonly heldMs: number
  /** The system refused our credentials. */
  readonly isRefused: boolean
}

/** One connection, until it is lost; `unwanted` when it was ended because nobody wants it. */
async function connectOnce(
  deps: SubscriptionDeps,
  heard: MonitoredSource,
  signal: AbortSignal,
  hooks: SubscriptionHooks,
): Promise<Ending | 'unwanted'> {
  const { connections, now, log } = deps
  const { id: source, client } = heard
  const lifetime = childLifetime(signal)
  let openedAt: number | undefined
  let told = 0
  let isUp = false
  let isRefused = false
  const open = () => connections.record(source, { type: 'opened', at: now() })
  const watching = watchBook(connections, source, lifetime, async () => {
    if (isUp) await open()
  })
  try {
    await connections.record(source, { type: 'trying', at: now() })
    const { subscribe } = await heard.findAdapter(lifetime.signal)
    if (subscribe === undefined) throw new client.errors.ApiError(`${source} tells nothing by itself any more`)
    for await (const event of subscribe(client, interestIn(deps, source), lifetime.signal)) {
      if (event.type === 'open') {
        openedAt = performance.now()
        isUp = true
        hooks.onConnectionChange?.(true)
        await open()
        log.info({ source }, 'real-time link is up')
      } else takeEvent(deps, heard, event, hooks)
      told += 1
      if (told % toldInARow === 0 && isTimeSliceUsed()) await nextTurn()
    }
  } catch (error) {
    isUp = false
    const { error: reason, ...trouble } = toSourceFailure(error)
    isRefused = trouble.isRefused
    log.warn({ source }, `real-time link: ${reason}`)
    await connections.record(source, { type: openedAt === undefined ? 'failed' : 'lost', at: now(), reason })
    if (trouble.retryAfter !== null) await hooks.onHold?.(reason)
  } finally {
    isUp = false
    hooks.onConnectionChange?.(false)
  }
  const isUnwanted = lifetime.signal.aborted && !signal.aborted
  lifetime.abort()
  await watching
  if (isUnwanted) return 'unwanted'
  return { heldMs: openedAt === undefined ? 0 : performance.now() - openedAt, isRefused }
}

/** Waits until somebody wants the link; false when the signal aborts first. Of a source without receivers all is wanted. */
async function wanted(connections: Connections, source: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (isWanted(connections, source)) return true
    await connections.waitForChange(source, signal).catch(() => {})
  }
  return false
}

function isWanted(connections: Connections, source: string): boolean {
  const own = connections.ofSource(source)
  return own.length === 0 || own.some(({ status }) => status !== 'stopped')
}

/** Ends the lifetime when the last receiver is stopped; `onChange` sees to those that were started or are new. */
async function watchBook(
  connections: Connections,
  source: string,
  lifetime: Lifetime,
  onChange: () => Promise<void>,
): Promise<void> {
  const { signal } = lifetime
  const wait = () =>
    connections.waitForChange(source, signal).then(
      () => true,
      () => false,
    )
  // Asked for again before anything is done about the last change, so that none goes unseen.
  for (let next = wait(); await next; ) {
    next = wait()
    if (!isWanted(connections, source)) lifetime.abort()
    else await onChange()
  }
}

function interestIn({ connections, receiverStore }: SubscriptionDeps, source: string): SubscriptionTargets {
  const ids = () =>
    connections.ofSource(source).flatMap(({ receiver, status }) => {
      const id = status === 'stopped' ? undefined : receiverStore.get(receiver)?.api_device_id
      return id === undefined || id === null ? [] : [id]
    })
  return {
    ids,
    async changed(signal) {
      const before = ids().join('\n')
      do await connections.waitForChange(source, signal)
      while (ids().join('\n') === before)
    },
  }
}

function takeEvent(
  deps: SubscriptionDeps,
  heard: MonitoredSource,
  event: Exclude<PushEvent, { type: 'open' }>,
  hooks: SubscriptionHooks,
): void {
  const { receiverStore, unitStore, connections, counters, log } = deps
  const { id: source, manufacturer } = heard
  const ignore = (reason: string, about: object = {}) => {
    counters.countIgnored(heard)
    log.debug({ source, ...about }, reason)
  }
  if (event.type === 'ignored') {
    ignore(event.reason)
    return
  }
  const id = event.type === 'removed' ? event.id : event.report.id
  if (unitStore.ofDevice(manufacturer, id) !== undefined) {
    takeOfUnit(deps, heard, id, event)
    return
  }
  const receiver = receiverStore.byApiId(manufacturer, id)
  if (receiver === undefined) {
    // What makes receivers has to know who a device is.
    if (event.type === 'told' && event.isComplete) takeNewcomer(deps, heard, event.report)
    else ignore('pushed by a device that is not known yet', { device: id })
    return
  }
  if (hooks.isReplaced?.(id)) {
    ignore('pushed by a device that stands in the place of another', { device: id })
    return
  }
  // Stopped on purpose: what is pushed all the same is not taken.
  if (connections.find(receiver.id)?.status === 'stopped') return
  connections.recordMessage(receiver.id)
  const isGone = event.type === 'removed' || event.report.online === false
  const reports = event.type === 'removed' ? [] : [withSummaryAsChannel(event.report, receiver.channels)]
  if (reports[0]?.channels !== undefined) hooks.onLevelsReceived?.(id)
  if (event.type === 'removed') void connections.remove(receiver.id)
  take(deps, heard, id, { reports, offline: isGone ? [receiver.id] : [] })
}

/** A device first heard over the link: from then on the link is its receiver's, if there is to be one. */
function takeNewcomer(deps: SubscriptionDeps, heard: MonitoredSource, report: DeviceReport): void {
  const { ingest, connections, receiverStore, log } = deps
  const { id: source, manufacturer } = heard
  const device = report.id
  const takeIn = async () => {
    await ingest.ingest({ manufacturer, reports: [report] })
    if (receiverStore.byApiId(manufacturer, device) !== undefined) await connections.setDevices(heard, [device])
  }
  takeIn().catch((error) => {
    log.error({ source, device, error: String(error) }, 'what was pushed could not be stored')
  })
}

/** A transmitter that its system lists as a device of its own. */
function takeOfUnit(
  deps: SubscriptionDeps,
  source: MonitoredSource,
  id: string,
  event: Extract<PushEvent, { type: 'told' | 'removed' }>,
): void {
  if (event.type === 'removed') take(deps, source, id, { reports: [], missing: [id] })
  else take(deps, source, id, { reports: [{ ...event.report, kind: 'transmitter' }] })
}

function take(
  { ingest, log }: SubscriptionDeps,
  { id: source, manufacturer }: MonitoredSource,
  device: string,
  told: Omit<Batch, 'manufacturer'>,
): void {
  ingest.ingest({ manufacturer, ...told }).catch((error) => {
    log.error({ source, device, error: String(error) }, 'what was pushed could not be stored')
  })
}
