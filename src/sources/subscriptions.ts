/**
 * Keeps one source's push subscription open, reconnects it, and updates the connection records of its receivers. Only
 * one process at a time holds a source's subscription. This need not be the process that polls the source, because the
 * subscription has its own lease.
 */

import { setImmediate as nextImmediate } from 'node:timers/promises'
import { credentialsPauseMs, jitter, nextAttempt, reconnectMs } from '../domain/access/limits.ts'
import { type DeviceReport, reportsHardware, withSummaryAsChannel } from '../domain/equipment/receiver.ts'
import { createLevelIngest } from '../ingest/level-ingest.ts'
import type { Batch } from '../ingest/plan-batch.ts'
import type { OnLevels, OnProblems, PushEvent, SubscriptionTargets } from '../manufacturers/plugin.ts'
import { type MonitoredSource, toSourceFailure } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import { isTimeSliceUsed } from '../platform/time-slice.ts'
import { childLifetime, pause } from '../platform/wait.ts'
import { subscriptionLease } from './connections.ts'
import type { FirstReport } from './first-report.ts'
import type { AcquiredLease } from './lease-manager.ts'
import type { SourceSubsystems } from './source-subsystems.ts'
import { isEnabled, waitUntilEnabled, watchConnections } from './stopped-connections.ts'

export interface SubscriptionHooks {
  /** Passes the first report to the polling cycle that has opened the subscription. */
  readonly firstReport?: FirstReport
  onConnectionChange?(isUp: boolean): void
  onLevelsReceived?(deviceId: string): void
  /** Called when the subscription has delivered a name, an address or another property of this device's hardware. */
  onIdentityReceived?(deviceId: string): void
  /** True if different hardware reports under this id. Its messages then do not apply to the receiver. */
  isReplaced?(deviceId: string): boolean
  /** Called when the system responds to the subscription with a request to pause. */
  onHold?(error: string): Promise<void>
  readonly onProblems?: OnProblems
  /** Called when another process holds the subscription. */
  onStandBy?(holder: string): void
  /** True if the system accepted the credentials after this time (`performance.now()`), for example in a poll. */
  wasAcceptedAfter?(time: number): boolean
}

/** After this many events, other sources may be given a turn, because a large system sends all its devices at once. */
const eventsPerSlice = 32

/** How often `wasAcceptedAfter` is checked. */
const checkAcceptedEveryMs = 250

/**
 * Subscribes and resubscribes until the signal aborts. Returns immediately if the protocol adapter has no
 * subscriptions. Also returns if an attempt fails while a polling cycle is waiting for the first report of a new
 * device, because the next cycle then tries again.
 */
export async function keepSubscribed(
  service: SourceSubsystems,
  source: MonitoredSource,
  signal: AbortSignal,
  hooks: SubscriptionHooks = {},
): Promise<void> {
  if (source.adapter.subscribe === undefined) return
  const lifetime = childLifetime(signal)
  const work = async (lease: AcquiredLease) => {
    // `holdMs` is 0 because the polling process handles any pause that the system has requested.
    if (lease.idleMs !== null) source.client.takeOver({ idleMs: lease.idleMs, holdMs: 0 })
    if ((await runSubscription(service, source, lease.signal, hooks)) === 'not opened') lifetime.abort()
  }
  const onStandBy = (holder: string) => {
    hooks.firstReport?.cancel()
    hooks.onStandBy?.(holder)
  }
  await service.leaseManager.runWhileHeld(subscriptionLease(source.id), lifetime.signal, work, { onStandBy })
  lifetime.abort()
}

async function runSubscription(
  service: SourceSubsystems,
  source: MonitoredSource,
  signal: AbortSignal,
  hooks: SubscriptionHooks,
): Promise<'aborted' | 'not opened'> {
  const { connections, log } = service
  const { id } = source
  try {
    for (let attempt = 0; ; ) {
      if (!isEnabled(connections, id)) hooks.firstReport?.cancel()
      if (!(await waitUntilEnabled(connections, id, signal))) return 'aborted'
      const ending = await connectOnce(service, source, signal, hooks)
      if (signal.aborted) return 'aborted'
      // The failure of a known device is also shown in its connection record, so its subscription is kept.
      if (ending !== 'disabled' && ending.isFirst && connections.ofSource(id).length === 0) return 'not opened'
      attempt = ending === 'disabled' ? 0 : nextAttempt(attempt, ending.openMs)
      if (ending === 'disabled') continue
      const rejectedAt = performance.now()
      const delayMs = jitter(reconnectMs(attempt, source.client.resume.retryMs), Math.random())
      if (!(await pause(delayMs, signal))) return 'aborted'
      if (ending.isAccessDenied) await waitUntilAccepted(rejectedAt, signal, hooks)
    }
  } finally {
    log.debug({ source: id }, 'subscription ended')
    await connections.record(id, { type: 'ended', at: now(), reason: 'no process holds this subscription' })
  }
}

/** Waits, after the credentials were rejected, until they are accepted elsewhere or `credentialsPauseMs` has passed. */
async function waitUntilAccepted(rejectedAt: number, signal: AbortSignal, hooks: SubscriptionHooks): Promise<void> {
  while (performance.now() - rejectedAt < credentialsPauseMs && hooks.wasAcceptedAfter?.(rejectedAt) !== true) {
    if (!(await pause(checkAcceptedEveryMs, signal))) return
  }
}

interface Ending {
  /** 0 if the connection could not be opened. */
  readonly openMs: number
  readonly isAccessDenied: boolean
  /** True if a polling cycle was waiting for the first report. */
  readonly isFirst: boolean
}

/**
 * Runs one connection until it ends. Returns `disabled` if it was closed because users had stopped the connections of
 * all its receivers.
 */
async function connectOnce(
  service: SourceSubsystems,
  source: MonitoredSource,
  signal: AbortSignal,
  hooks: SubscriptionHooks,
): Promise<Ending | 'disabled'> {
  const { connections, log } = service
  const { id, client } = source
  const lifetime = childLifetime(signal)
  let openedAt: number | undefined
  let events = 0
  let isUp = false
  let isAccessDenied = false
  let isFirst = false
  const recordOpened = () => connections.record(id, { type: 'opened', at: now() })
  const watching = watchConnections(connections, id, lifetime, async () => {
    if (isUp) await recordOpened()
  })
  try {
    await connections.record(id, { type: 'trying', at: now() })
    const { subscribe } = await source.findAdapter(lifetime.signal)
    if (subscribe === undefined) throw new client.errors.ApiError(`${id} no longer supports subscriptions`)
    const ingestLevels = createLevelIngest(service, source, {
      ...hooks,
      ingestReport: (device, report) => ingestPushed(service, source, device, { reports: [report] }),
    })
    const onLevels: OnLevels = (device, samples) => {
      client.traffic.levels(device, samples)
      return ingestLevels(device, samples)
    }
    client.traffic.prepare()
    for await (const event of subscribe(client, targetsOf(service, id), lifetime.signal, onLevels, hooks.onProblems)) {
      if (event.type === 'report') client.traffic.report(event.report)
      if (event.type === 'open') {
        openedAt = performance.now()
        isUp = true
        hooks.onConnectionChange?.(true)
        await recordOpened()
        log.info({ source: id }, 'subscription is connected')
      } else {
        const passing = passFirstReport(event, hooks)
        if (passing === null) handleEvent(service, source, event, hooks)
        // Waits until the polling cycle has created the receiver, because the messages that follow apply to it.
        else await passing
      }
      events += 1
      if (events % eventsPerSlice === 0 && isTimeSliceUsed()) await nextImmediate()
    }
  } catch (error) {
    isUp = false
    const { error: reason, ...failure } = toSourceFailure(error)
    isAccessDenied = failure.isAccessDenied
    isFirst = hooks.firstReport?.fail(error) === true
    // The cycle that waits for the first report logs the failure.
    if (!isFirst) log.warn({ source: id }, `subscription: ${reason}`)
    await connections.record(id, { type: openedAt === undefined ? 'failed' : 'lost', at: now(), reason })
    if (failure.retryAfter !== null) await hooks.onHold?.(reason)
  } finally {
    isUp = false
    hooks.onConnectionChange?.(false)
  }
  const isDisabled = lifetime.signal.aborted && !signal.aborted
  lifetime.abort()
  await watching
  if (isDisabled) return 'disabled'
  return { openMs: openedAt === undefined ? 0 : performance.now() - openedAt, isAccessDenied, isFirst }
}

/**
 * Passes the event to the polling cycle that waits for the first report. Resolves when the cycle has applied it; null if
 * the event is not for a cycle.
 */
function passFirstReport(event: PushEvent, { firstReport }: SubscriptionHooks): Promise<void> | null {
  if (firstReport === undefined || !firstReport.isAwaited) return null
  if (event.type !== 'report' || event.isComplete !== true || event.report.online === false) return null
  return firstReport.deliver(event.report)
}

function targetsOf({ connections, receiverStore }: SourceSubsystems, source: string): SubscriptionTargets {
  const ids = () =>
    connections.ofSource(source).flatMap(({ id: receiverId, status }) => {
      const id = status === 'stopped' ? undefined : receiverStore.get(receiverId)?.api_device_id
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

function handleEvent(
  service: SourceSubsystems,
  source: MonitoredSource,
  event: Exclude<PushEvent, { type: 'open' }>,
  hooks: SubscriptionHooks,
): void {
  const { receiverStore, unitStore, connections, counters, log } = service
  const { manufacturer } = source
  const ignore = (reason: string, fields: object = {}) => {
    counters.countIgnored(source)
    log.debug({ source: source.id, ...fields }, reason)
  }
  if (event.type === 'ignored') {
    ignore(event.reason)
    return
  }
  const id = event.type === 'removed' ? event.id : event.report.id
  if (unitStore.ofDevice(manufacturer, id) !== undefined) {
    ingestUnitEvent(service, source, id, event)
    return
  }
  const receiver = receiverStore.factsByApiId(manufacturer, id)
  if (receiver === undefined) {
    // A receiver can only be created from a complete report, which contains its identity.
    if (event.type === 'report' && event.isComplete) ingestNewDevice(service, source, event.report)
    else ignore('ignored a message from an unknown device', { device: id })
    return
  }
  if (hooks.isReplaced?.(id)) {
    ignore('ignored a message from replacement hardware under review', { device: id })
    return
  }
  // If a user has stopped this connection, messages that still arrive are ignored.
  if (connections.find(receiver.id)?.status === 'stopped') return
  connections.recordMessage(receiver.id)
  const isOffline = event.type === 'removed' || event.report.online === false
  const reports = event.type === 'removed' ? [] : [withSummaryAsChannel(event.report, receiver.channels)]
  if (reports[0]?.channels !== undefined) hooks.onLevelsReceived?.(id)
  if (reports[0] !== undefined && reportsHardware(reports[0])) hooks.onIdentityReceived?.(id)
  if (event.type === 'removed') void connections.remove(receiver.id)
  ingestPushed(service, source, id, { reports, offline: isOffline ? [receiver.id] : [] })
}

/**
 * Ingests a device first reported by the subscription. If it becomes a receiver, a connection record is created for it.
 */
function ingestNewDevice(service: SourceSubsystems, source: MonitoredSource, report: DeviceReport): void {
  const { ingest, connections, receiverStore, log } = service
  const { manufacturer } = source
  const device = report.id
  const ingestAndConnect = async () => {
    await ingest.ingest({ manufacturer, source: source.id, reports: [report] })
    if (receiverStore.factsByApiId(manufacturer, device) !== undefined) await connections.setDevices(source, [device])
  }
  ingestAndConnect().catch((error) => {
    log.error({ source: source.id, device, error: String(error) }, 'a pushed message could not be stored')
  })
}

/** Ingests an event of a transmitter that its system lists as a separate device. */
function ingestUnitEvent(
  service: SourceSubsystems,
  source: MonitoredSource,
  id: string,
  event: Extract<PushEvent, { type: 'report' | 'removed' }>,
): void {
  if (event.type === 'removed') ingestPushed(service, source, id, { reports: [], missing: [id] })
  else ingestPushed(service, source, id, { reports: [{ ...event.report, kind: 'transmitter' }] })
}

function ingestPushed(
  { ingest, log }: SourceSubsystems,
  { id: source, manufacturer }: MonitoredSource,
  device: string,
  batch: Omit<Batch, 'manufacturer' | 'source'>,
): void {
  ingest.ingest({ manufacturer, source, ...batch }).catch((error) => {
    log.error({ source, device, error: String(error) }, 'a pushed message could not be stored')
  })
}
