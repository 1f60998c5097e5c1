/**
 * The devices of one source. Keeps the known data of each device between polling cycles, and finds devices that the
 * subscription reports, that are missing, or that were replaced by other hardware.
 */

import { isOpen } from '../domain/equipment/connection.ts'
import type { DeviceReport, Receiver } from '../domain/equipment/receiver.ts'
import type { ReceiverAtRead } from '../domain/identity/ingest-plan.ts'
import { isReplacedHardware } from '../domain/identity/reconcile.ts'
import type { LevelSample } from '../domain/levels/level-sample.ts'
import { queryLevelsEveryMs } from '../domain/levels/level-sample.ts'
import type { LevelAges } from '../ingest/level-ages.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { DeviceList, ProtocolAdapter, UpstreamDevice } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Connections } from './connections.ts'
import { createDeviceMemory, type DeviceMemory, type RememberedDevice, type Translation } from './device-memory.ts'

/** When a cycle or a read began. */
export interface CycleStart {
  /** Epoch milliseconds. */
  readonly at: number
  /** `performance.now()` */
  readonly monotonicAt: number
  /** The receivers as they were when the cycle began; absent if the source has no subscription. */
  readonly receiverAtRead?: ReceiverAtRead | undefined
}

/** The reports of a cycle, as in `Batch`. */
interface ReadDevices {
  readonly reports: readonly DeviceReport[]
  readonly newerLevels: ReadonlyMap<DeviceReport, readonly LevelSample[]>
}

const identityEveryMs = 10 * 60_000
/**
 * The number of consecutive successful polls in which a device must be missing, or replaced by a different one, before
 * its receiver is marked as offline.
 */
const missedUntilOffline = 3

export class SourceDevices {
  readonly #source: MonitoredSource
  readonly #receiverStore: ReceiverStore
  readonly #connections: Connections
  readonly #levelAges: LevelAges
  #adapter: ProtocolAdapter
  #memory: DeviceMemory
  #lastList: DeviceList<UpstreamDevice> | undefined
  #listedIds: readonly string[] = []
  /** Ids of devices whose levels this process's subscription has delivered. */
  readonly #pushedLevelIds = new Set<string>()
  /** When this process connected its subscription; null while it has none. */
  #subscribedAt: number | null = null

  constructor(source: MonitoredSource, receiverStore: ReceiverStore, connections: Connections, levelAges: LevelAges) {
    this.#source = source
    this.#receiverStore = receiverStore
    this.#connections = connections
    this.#levelAges = levelAges
    this.#adapter = source.adapter
    this.#memory = createDeviceMemory(source.adapter)
  }

  get adapter(): ProtocolAdapter {
    return this.#adapter
  }

  /** The upstream ids of the devices in the last list. The same array as long as they are the same. */
  get listedIds(): readonly string[] {
    return this.#listedIds
  }

  /** True while this process holds an open subscription to the source. */
  get isSubscribed(): boolean {
    return this.#subscribedAt !== null
  }

  /**
   * Returns the reports of a source that pushes everything, and is therefore not polled. Its devices are online as long
   * as their subscription is connected.
   */
  reportConnected(): readonly DeviceReport[] {
    if (this.#source.adapter.pushesEverything !== true) return []
    const ids = this.#connected().flatMap(({ id }) => this.#receiverStore.facts(id)?.api_device_id ?? [])
    if (ids.length > 0) this.#setListedIds(ids)
    return ids.map((id) => ({ id, kind: 'receiver', isConfirmation: true }))
  }

  /** Returns when the source's subscription connected, in any process; null while it is down. */
  connectedAt(): number | null {
    const times = [...this.#connected().map(({ connected_at }) => connected_at), this.#subscribedAt]
    const known = times.filter((at) => at !== null)
    return known.length === 0 ? null : Math.max(...known)
  }

  /** Reads the list from the source, with the adapter that the source turns out to use. */
  async readList(signal: AbortSignal): Promise<DeviceList<UpstreamDevice>> {
    const before = this.#source.adapter === this.#adapter ? this.#lastList : undefined
    // A list that cannot be read to its end may already have changed the devices of the last one.
    this.#lastList = undefined
    const list = await this.#source.listDevices(signal, before)
    if (this.#source.adapter !== this.#adapter) {
      this.#adapter = this.#source.adapter
      this.#memory = createDeviceMemory(this.#adapter)
    }
    this.#lastList = list
    return list
  }

  /** Merges each listed device with the data read in earlier cycles. */
  async remember(listed: readonly UpstreamDevice[]): Promise<RememberedDevice[]> {
    const devices: RememberedDevice[] = []
    this.#memory.begin()
    for (const device of listed) {
      const entry = this.#memory.remember(device)
      if (entry !== null) devices.push(entry)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    this.#memory.end()
    this.#setListedIds(devices.map(({ id }) => id))
    return devices
  }

  /** Remembers the device in this report as the only one of the source. */
  rememberReport(report: DeviceReport): void {
    this.#memory.begin()
    this.#memory.rememberReport(report)
    this.#memory.end()
    this.#setListedIds([report.id])
  }

  translationOf(entry: RememberedDevice): Translation {
    return this.#memory.translationOf(entry)
  }

  /** Returns the device's receiver with its newest levels. */
  currentReceiver(entry: RememberedDevice): Receiver | undefined {
    const receiver = this.receiverOf(entry)
    return receiver === undefined ? undefined : this.#receiverStore.get(receiver.id)
  }

  /** Returns the device's receiver; its levels may be out of date. */
  receiverOf(entry: RememberedDevice): Receiver | undefined {
    const { manufacturer } = this.#source
    const known = entry.receiver === null ? undefined : this.#receiverStore.facts(entry.receiver)
    if (known?.api_device_id === entry.id && known.manufacturer === manufacturer) return known
    const found = this.#receiverStore.factsByApiId(manufacturer, entry.id)
    entry.receiver = found?.id ?? null
    return found
  }

  isIdentityDue(entry: RememberedDevice, time: number): boolean {
    return time - entry.identityAt >= identityEveryMs && this.translationOf(entry).needsIdentity
  }

  /**
   * True if the device's levels must be read. A subscription delivers only changes, so levels are polled once after it
   * connects, and then if it has not delivered some of them for a while.
   */
  areLevelsDue(entry: RememberedDevice): boolean {
    const subscribedSince = this.subscribedSince(entry)
    if (subscribedSince === null || entry.levelsAt < subscribedSince) return true
    const isQueryDue = this.isSubscribed && performance.now() - entry.levelsAt >= queryLevelsEveryMs
    return isQueryDue && entry.receiver !== null && this.#levelAges.needsPoll(entry.receiver)
  }

  /**
   * Returns when (`performance.now()`) a subscription in any process began to push this device's levels; null if none
   * does.
   */
  subscribedSince(entry: RememberedDevice): number | null {
    const receiver = this.receiverOf(entry)
    // Pushed levels are applied only to the known receiver. Replacement hardware is polled.
    if (receiver === undefined || this.#isReplacement(entry, receiver)) return null
    const isOwn = this.#connections.find(receiver.id)?.source === this.#source.id
    return isOwn ? this.#connections.connectedSince(receiver.id) : null
  }

  /**
   * Starts a cycle. Remembers the receivers of the source as they are now, because the subscription may change them while
   * the list is being read and until its reports are stored.
   */
  startCycle(): CycleStart {
    const start = { at: now(), monotonicAt: performance.now() }
    return this.#adapter.subscribe === undefined ? start : { ...start, receiverAtRead: this.#rememberReceivers() }
  }

  /** Ends the cycle with a report of each identified device. */
  async createReports(devices: readonly RememberedDevice[]): Promise<ReadDevices> {
    const reports: DeviceReport[] = []
    const newerLevels = new Map<DeviceReport, readonly LevelSample[]>()
    for (const entry of devices) {
      const translation = this.translationOf(entry)
      if (!translation.hasIdentity) continue
      if (this.#areLevelsPushed(entry)) reports.push(translation.withoutLevels)
      else {
        const { report } = translation
        const levels = this.#memory.newerLevelsOf(entry)
        reports.push(report)
        if (levels !== null) newerLevels.set(report, levels)
      }
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    return { reports, newerLevels }
  }

  #areLevelsPushed(entry: RememberedDevice): boolean {
    const subscribedSince = this.subscribedSince(entry)
    // Only the process that holds the subscription knows for which devices levels were pushed. Other processes assume
    // that they are pushed for every device with a connected subscription.
    return (
      subscribedSince !== null &&
      entry.levelsAt >= subscribedSince &&
      (this.#pushedLevelIds.has(entry.id) || this.#subscribedAt === null)
    )
  }

  /** Returns the device's report with its newest levels. */
  reportOf(entry: RememberedDevice): DeviceReport {
    return this.#memory.reportOf(entry)
  }

  /** Returns the ids of devices that were missing in `missedUntilOffline` successful polls. */
  missingIds(): string[] {
    const missing: string[] = []
    for (const { id, missed } of this.#memory.all()) if (missed >= missedUntilOffline) missing.push(id)
    return missing
  }

  /**
   * Finds the receivers to be marked as offline after a successful poll: those that were missing, or replaced by other
   * hardware, in `missedUntilOffline` successful polls.
   */
  async findOfflineReceivers(): Promise<number[]> {
    const offline: number[] = []
    for (const entry of this.#memory.all()) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      const translation = this.translationOf(entry)
      const isUnchanged = entry.confirmed === translation && entry.missed < missedUntilOffline
      const receiver = isUnchanged ? undefined : this.receiverOf(entry)
      if (receiver === undefined) continue
      const isSameHardware = !this.#isReplacement(entry, receiver)
      entry.confirmed = isSameHardware ? translation : null
      entry.replaced = isSameHardware ? 0 : entry.replaced + 1
      const isOffline = entry.missed >= missedUntilOffline || entry.replaced >= missedUntilOffline
      if (isOffline && receiver.is_active) offline.push(receiver.id)
    }
    return offline
  }

  /** Sets whether this process holds an open subscription to the source. */
  setSubscribed(isSubscribed: boolean): void {
    this.#subscribedAt = isSubscribed ? now() : null
    this.#pushedLevelIds.clear()
  }

  /**
   * Records that the subscription has delivered levels of this device. Its levels in the device list are ignored
   * afterwards.
   */
  recordLevelsReceived(deviceId: string): void {
    this.#pushedLevelIds.add(deviceId)
  }

  /**
   * Discards the identity read in earlier polls, which may be out of date. Called when the subscription has delivered a
   * name or an address.
   */
  discardIdentity(deviceId: string): void {
    this.#memory.discardIdentity(deviceId)
  }

  /** True if different hardware reports under this id and awaits review. */
  isReplaced(deviceId: string): boolean {
    return (this.#memory.find(deviceId)?.replaced ?? 0) > 0
  }

  #isReplacement(entry: RememberedDevice, receiver: Receiver): boolean {
    const translation = this.translationOf(entry)
    if (entry.confirmed === translation) return false
    const isReplaced = isReplacedHardware(receiver, translation.identity)
    if (!isReplaced && entry.replaced === 0) entry.confirmed = translation
    return isReplaced
  }

  #rememberReceivers(): ReceiverAtRead {
    const listed = [...this.#memory.all()].map(({ receiver }) => receiver)
    const connected = this.#connections.ofSource(this.#source.id).map(({ receiver }) => receiver)
    return this.#receiverStore.levels.remember([...listed, ...connected].filter((id) => id !== null))
  }

  #connected() {
    return this.#connections.ofSource(this.#source.id).filter(isOpen)
  }

  #setListedIds(ids: readonly string[]): void {
    const isSame = this.#listedIds.length === ids.length && ids.every((id, index) => id === this.#listedIds[index])
    if (!isSame) this.#listedIds = ids
  }
}
