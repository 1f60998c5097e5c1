/** Polls one source: what it lists, what is still to be asked about whom, what all that means. */

import type { Latest } from '../live/latest.ts'
import type { Tally } from '../live/tally.ts'
import type { UpstreamDevice } from '../manufacturers/plugin.ts'
import { type HeardSource, readTrouble } from '../manufacturers/sources.ts'
import { backoffMs, credentialsPauseMs, jitter, nextStart } from '../model/pace.ts'
import type { Observation } from '../model/receiver.ts'
import type { Connections } from './connections.ts'
import type { Ingest, IngestReport } from './ingest.ts'
import type { Log } from './log.ts'
import type { Ownership } from './ownership.ts'
import type { Reports } from './reports.ts'
import { pause } from './wait.ts'

export interface CycleReport extends IngestReport {
  /** Devices that could not be read. */
  readonly errors: number
  /** Why the cycle failed; null when it did not. */
  readonly error: string | null
  readonly duration_ms: number
}

/** How a cycle is run. */
export interface CycleOptions {
  readonly signal: AbortSignal
  readonly intervalMs: number
  /** Waits for the identity of every device the source lists, however many calls that takes. */
  readonly isComplete?: boolean
  readonly guard?: Ownership['guard']
  /** Hears how far a cycle has come. */
  readonly onProgress?: (done: number, total: number) => void
}

export interface Poller {
  readonly heard: HeardSource
  /** One cycle; joins the one that is under way. Does not throw. */
  poll(options: CycleOptions): Promise<CycleReport>
  /** What a cycle would do; reads, and leaves no trace. */
  rehearse(options: CycleOptions): Promise<CycleReport>
  /** The upstream's ids of the devices in its last list. */
  deviceIds(): readonly string[]
  /** This process keeps the source's push link, and it is up. */
  setLinked(isLinked: boolean): void
  /** The link told levels of this device; what the list sums up is of no use for it any more. */
  noteTold(deviceId: string): void
  /** The upstream refused our credentials in the last cycle; asking again soon gains nothing. */
  wasRefused: boolean
}

export interface PollDeps {
  readonly ingest: Ingest
  readonly latest: Latest
  readonly reports: Reports
  readonly connections: Connections
  readonly tally: Tally
  readonly log: Log
  now(): number
}

/** What is remembered of a device from cycle to cycle. */
interface Remembered {
  device: UpstreamDevice
  identityAt: number
  levelsAt: number
  /** Good polls in a row that lacked it or called it offline. */
  missed: number
}

/** A change of the interval takes effect within this time. */
const lookAgainMs = 1000
const identityEveryMs = 10 * 60_000
const missedUntilGone = 3
const silentAtLeastMs = 60_000
/** Share of the upstream's allowed rate that polling may use. */
const budgetShare = 0.8

export function createPoller(deps: PollDeps, heard: HeardSource): Poller {
  const { ingest, latest, reports, connections, tally, log, now } = deps
  const { manufacturer, plugin, source, link } = heard
  const remembered = new Map<string, Remembered>()
  const toldByLink = new Set<string>()
  let listedIds: readonly string[] = []
  let isLinkHere = false
  let hasPolled = false
  let running: Promise<CycleReport> | undefined
  /** Somebody who waits for every identity has started or joined the running cycle. */
  let isCompleteWanted = false

  async function runCycle(options: CycleOptions, isRehearsal: boolean): Promise<CycleReport> {
    const startedAt = performance.now()
    let malformed = 0
    let isListed = false
    let trouble: unknown
    let observed: readonly Remembered[] = []
    try {
      const list = await plugin.listDevices(link, options.signal)
      malformed = list.malformed
      if (list.malformedReason) log.warn({ source: heard.id, malformed }, `devices left out: ${list.malformedReason}`)
      const devices = remember(list.devices)
      isListed = true
      trouble = await readParts(devices, options, isRehearsal).catch((error) => error)
      observed = devices.filter(({ device }) => plugin.hasIdentity(device))
    } catch (error) {
      trouble = error
    }
    if (options.signal.aborted) return failedCycle('stopped', startedAt)
    const batch = {
      manufacturer,
      observations: observed.map(observe),
      gone: silentReceivers(options.intervalMs, trouble === undefined),
      missing: trouble === undefined ? missingIds() : [],
      endsCycle: true,
      ...(options.guard && { guard: options.guard }),
    }
    try {
      const report = isRehearsal ? ingest.preview(batch) : await ingest.take(batch)
      if (isListed && !isRehearsal) await connections.expect(heard, listedIds)
      const error = trouble === undefined ? null : readTrouble(trouble).error
      return { ...report, errors: malformed, error, duration_ms: Math.round(performance.now() - startedAt) }
    } catch (error) {
      log.error({ source: heard.id, error: String(error) }, 'the cycle could not be stored')
      const lost = failedCycle(`the cycle could not be stored: ${readTrouble(error).error}`, startedAt)
      return { ...lost, devices: observed.length, errors: malformed }
    } finally {
      if (!isRehearsal) {
        tally.polled(heard, (performance.now() - startedAt) / 1000, trouble !== undefined)
        await noteOutcome(trouble)
      }
    }
  }

  function observe({ device, levelsAt }: Remembered): Observation {
    const observation = plugin.transformDeviceData(device)
    const linkedAt = linkedSince(device.id)
    // A link that another process keeps is believed to tell what the list sums up.
    const isOutdone = linkedAt !== null && levelsAt >= linkedAt && (toldByLink.has(device.id) || !isLinkHere)
    return isOutdone ? { ...observation, channels: undefined } : observation
  }

  /** The listed devices with what was read of them before. */
  function remember(listed: readonly UpstreamDevice[]): Remembered[] {
    const seen = new Set<string>()
    const devices: Remembered[] = []
    for (const device of listed) {
      if (seen.has(device.id)) continue
      seen.add(device.id)
      devices.push(rememberOne(device))
    }
    for (const [id, entry] of remembered) if (!seen.has(id)) entry.missed += 1
    listedIds = [...seen]
    return devices
  }

  function rememberOne(listed: UpstreamDevice): Remembered {
    const earlier = remembered.get(listed.id)
    const isSame = earlier !== undefined && plugin.isSameIdentity(listed, earlier.device)
    const device = earlier === undefined ? listed : plugin.withEarlierIdentity(listed, earlier.device)
    const entry = earlier ?? { device, identityAt: 0, levelsAt: 0, missed: 0 }
    entry.device = device
    if (!isSame) entry.identityAt = 0
    const isOffline = plugin.transformDeviceData(device).online === false
    entry.missed = isOffline ? entry.missed + 1 : 0
    remembered.set(listed.id, entry)
    return entry
  }

  /** Identities first, then levels, the longest unread first, as far as the upstream's rate allows. */
  async function readParts(devices: readonly Remembered[], options: CycleOptions, isRehearsal: boolean): Promise<void> {
    const allowed = Math.floor(budgetShare * (options.intervalMs / 1000) * source.pace.perSecond)
    // The list was one call; the first cycle may use up the burst.
    let budget = Math.max(allowed, hasPolled ? 1 : source.pace.burst) - 1
    hasPolled = true
    const time = now()
    const unknown = devices.filter((entry) => wantsIdentity(entry, time))
    // A device nobody knows yet comes before one whose identity is only old.
    unknown.sort((a, b) => Number(plugin.hasIdentity(a.device)) - Number(plugin.hasIdentity(b.device)))
    const affordable = Math.max(0, budget)
    for (const [done, entry] of unknown.entries()) {
      const isComplete = options.isComplete || isCompleteWanted
      if (done >= affordable && !isComplete) break
      entry.device = await plugin.readPart(link, entry.device, 'identity', options.signal)
      entry.identityAt = time
      budget -= 1
      options.onProgress?.(done + 1, isComplete ? unknown.length : Math.min(unknown.length, affordable))
    }
    const unread = devices.filter((entry) => plugin.hasIdentity(entry.device) && wantsLevels(entry))
    for (const entry of unread.sort((a, b) => a.levelsAt - b.levelsAt)) {
      const parts = plugin.partsOf(entry.device).filter((part) => part !== 'identity')
      if (parts.length > budget) break
      for (const part of parts) entry.device = await plugin.readPart(link, entry.device, part, options.signal)
      entry.levelsAt = time
      budget -= parts.length
      // At once: by the end of the cycle the link may have told something newer.
      if (linkedSince(entry.device.id) !== null && !isRehearsal) await takeNow(entry.device, options)
    }
  }

  async function takeNow(device: UpstreamDevice, { guard }: CycleOptions): Promise<void> {
    const observations = [plugin.transformDeviceData(device)]
    await ingest.take({ manufacturer, observations, ...(guard && { guard }) })
  }

  /** A link tells what changes; what changed while it was down was told to nobody. */
  function wantsLevels(entry: Remembered): boolean {
    const linkedAt = linkedSince(entry.device.id)
    return linkedAt === null || entry.levelsAt < linkedAt
  }

  /** Since when this device's levels are pushed, to whatever process; null when they are not. */
  function linkedSince(deviceId: string): number | null {
    const receiver = latest.byApiId(manufacturer, deviceId)
    const connection = receiver && connections.find(receiver.id)
    const isLinked = connection?.status === 'connected' && connection.source === heard.id
    return isLinked ? (connection.connected_at ?? 0) : null
  }

  function wantsIdentity(entry: Remembered, time: number): boolean {
    const isOld = time - entry.identityAt >= identityEveryMs
    return isOld && plugin.partsOf(entry.device).includes('identity')
  }

  function missingIds(): string[] {
    return [...remembered].filter(([, { missed }]) => missed >= missedUntilGone).map(([id]) => id)
  }

  /** Receivers to be called offline: missing for three good polls, or not heard of for long, by whatever source. */
  function silentReceivers(intervalMs: number, isGoodPoll: boolean): number[] {
    const gone: number[] = []
    for (const [id, entry] of isGoodPoll ? remembered : []) {
      const receiver = entry.missed < missedUntilGone ? undefined : latest.byApiId(manufacturer, id)
      if (receiver?.is_active) gone.push(receiver.id)
    }
    const silentSince = now() - silentAfterMs(intervalMs)
    for (const receiver of latest.list(manufacturer)) {
      if (receiver.is_active && receiver.last_seen < silentSince) gone.push(receiver.id)
    }
    return gone
  }

  async function noteOutcome(trouble: unknown): Promise<void> {
    const { error, retryAfter, isRefused } = readTrouble(trouble)
    poller.wasRefused = isRefused
    const retryAfterMs = retryAfter === null ? null : retryAfter * 1000
    const outcome = trouble === undefined ? ({ ok: true } as const) : { ok: false as const, error, retryAfterMs }
    if (!outcome.ok) log.warn({ source: heard.id }, outcome.error)
    await reports.note(manufacturer, heard.id, outcome).catch((error) => {
      log.error({ source: heard.id, error: String(error) }, 'the outcome of the cycle could not be stored')
    })
  }

  const poller: Poller = {
    heard,
    wasRefused: false,
    poll(options) {
      if (options.isComplete) isCompleteWanted = true
      running ??= runCycle(options, false).finally(() => {
        running = undefined
        isCompleteWanted = false
      })
      return running
    },
    rehearse: (options) => runCycle(options, true),
    deviceIds: () => listedIds,
    setLinked(linked) {
      isLinkHere = linked
      toldByLink.clear()
    },
    noteTold: (deviceId) => void toldByLink.add(deviceId),
  }
  return poller
}

/** A receiver of which nothing was heard for so long is offline. */
export function silentAfterMs(intervalMs: number): number {
  return Math.max(3 * intervalMs, silentAtLeastMs)
}

/** Cycles at fixed times, later after failures, until the signal aborts. */
export async function pollForever(
  deps: Pick<PollDeps, 'reports' | 'tally' | 'now'> & { random(): number },
  poller: Poller,
  options: Omit<CycleOptions, 'intervalMs'> & {
    intervalMs(): number
    onCycle?(report: CycleReport): void
  },
): Promise<void> {
  const { signal, intervalMs, onCycle } = options
  while (!signal.aborted) {
    const startedAt = performance.now()
    const report = await poller.poll({ ...options, intervalMs: intervalMs() })
    if (signal.aborted) return
    onCycle?.(report)
    const endedAt = performance.now()
    const random = deps.random()
    const dueAt = () => startOfNext(report, { startedAt, endedAt, random }).at
    if (startOfNext(report, { startedAt, endedAt, random }).overran) deps.tally.overran(poller.heard)
    // Looked at again and again: somebody may change the interval while we wait.
    for (let waitMs = dueAt() - endedAt; waitMs > 0; waitMs = dueAt() - performance.now()) {
      if (!(await pause(Math.min(waitMs, lookAgainMs), signal))) return
    }
  }

  function startOfNext(
    report: CycleReport,
    { startedAt, endedAt, random }: { startedAt: number; endedAt: number; random: number },
  ): { at: number; overran: boolean } {
    const fares = deps.reports.of(poller.heard.id)
    const holdMs = (fares?.hold_until ?? 0) - deps.now()
    if (holdMs > 0) return { at: performance.now() + holdMs + 50, overran: false }
    const failures = fares?.consecutive_failures ?? 0
    if (report.error === null || failures === 0) return nextStart(startedAt, intervalMs(), endedAt)
    const waitMs = poller.wasRefused ? credentialsPauseMs : jitter(backoffMs(intervalMs(), failures), random)
    return { at: startedAt + waitMs, overran: false }
  }
}

export function failedCycle(error: string, startedAt: number): CycleReport {
  const duration_ms = Math.round(performance.now() - startedAt)
  return { devices: 0, created: 0, updated: 0, moved: 0, duplicates: 0, conflicts: 0, errors: 0, error, duration_ms }
}
