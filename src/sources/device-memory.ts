/** Caches a source's devices between polling cycles, so that an unchanged device is not translated again. */

import type { DeviceReport } from '../domain/equipment/receiver.ts'
import { type LevelSample, withLevels } from '../domain/levels/level-sample.ts'
import type { ProtocolAdapter, UpstreamDevice } from '../manufacturers/plugin.ts'

export interface RememberedDevice {
  readonly id: string
  /** The device's entry in the last list. */
  listed: UpstreamDevice
  /** `listed` with the identity read in earlier cycles. */
  known: UpstreamDevice
  /** `known` with everything read in this cycle. */
  device: UpstreamDevice
  /** The translation of `device`. */
  translation: Translation
  /** True if the device has newer levels than those in the translation. */
  hasNewerLevels: boolean
  /** These levels; null if they have not been needed. */
  levels: readonly LevelSample[] | null
  /** When the identity was last read (`performance.now()`). */
  identityAt: number
  /** When the levels were last read (`performance.now()`). */
  levelsAt: number
  /** Number of consecutive successful polls in which the device was missing or offline. */
  missed: number
  /** The last translation that matched the receiver's hardware; null while different hardware reports under this id. */
  confirmed: Translation | null
  /** Number of consecutive successful polls in which different hardware was reported under this id. */
  replaced: number
  /** The number of the last cycle in which the device was listed. */
  cycle: number
  /** The id of the device's receiver, cached. */
  receiver: number | null
}

export interface DeviceMemory {
  /** Starts a cycle. Called before its devices are added. */
  begin(): void
  /** Adds a device from the list; returns null if this cycle's list has already contained its id. */
  remember(listed: UpstreamDevice): RememberedDevice | null
  /** Adds a device that has reported everything itself, without having been listed. */
  rememberReport(report: DeviceReport): void
  /** Ends the list. Devices that it did not contain are counted as missed. */
  end(): void
  translationOf(entry: RememberedDevice): Translation
  /** Returns the levels of the device if they are newer than those in the translation; otherwise null. */
  newerLevelsOf(entry: RememberedDevice): readonly LevelSample[] | null
  /** Returns the report with the newest levels. */
  reportOf(entry: RememberedDevice): DeviceReport
  find(id: string): RememberedDevice | undefined
  /** Discards the identity read in earlier cycles, so that it is read again before it is reported again. */
  discardIdentity(id: string): void
  all(): Iterable<RememberedDevice>
}

const never = Number.NEGATIVE_INFINITY

export function createDeviceMemory(adapter: ProtocolAdapter): DeviceMemory {
  const devices = new Map<string, RememberedDevice>()
  let cycle = 0

  function translationOf(entry: RememberedDevice): Translation {
    if (entry.translation.device !== entry.device) {
      setTranslation(entry, new Translation(adapter, entry.device))
    }
    return entry.translation
  }

  function setTranslation(entry: RememberedDevice, translation: Translation): void {
    entry.translation = translation
    entry.hasNewerLevels = false
    entry.levels = null
  }

  function newerLevelsOf(entry: RememberedDevice): readonly LevelSample[] | null {
    if (entry.hasNewerLevels) entry.levels ??= adapter.readLevels?.(entry.device) ?? null
    return entry.levels
  }

  function createEntry(device: UpstreamDevice, translation: Translation): RememberedDevice {
    return {
      id: device.id,
      listed: device,
      known: device,
      device,
      translation,
      hasNewerLevels: false,
      levels: null,
      identityAt: never,
      levelsAt: never,
      missed: 0,
      confirmed: null,
      replaced: 0,
      cycle,
      receiver: null,
    }
  }

  function add(listed: UpstreamDevice): RememberedDevice {
    const entry = createEntry(listed, new Translation(adapter, listed))
    devices.set(listed.id, entry)
    return entry
  }

  function update(entry: RememberedDevice, listed: UpstreamDevice): void {
    // The list entry is the same object, and there are no readings of the previous cycle to discard.
    if (listed === entry.listed && entry.device === entry.known) return
    const before = translationOf(entry)
    const hasNoReadings = entry.device === entry.known
    if (hasNoReadings && adapter.differsOnlyInLevels?.(listed, entry.listed) === true) {
      entry.known = adapter.withEarlierIdentity(listed, entry.device)
      entry.device = entry.known
      entry.listed = listed
      before.device = entry.device
      entry.hasNewerLevels = true
      entry.levels = null
      return
    }
    const isSame = adapter.isSameIdentity(listed, entry.device)
    if (!isSame) entry.identityAt = never
    entry.known = adapter.withEarlierIdentity(listed, entry.device)
    entry.device = entry.known
    entry.listed = listed
    setTranslation(entry, new Translation(adapter, entry.device))
    // The report without levels is the same as before, so it is reused. A device whose levels are pushed needs only
    // this report, and is therefore not translated again.
    if (isSame && hasNoReadings) entry.translation.reuse(before)
  }

  return {
    begin() {
      cycle += 1
    },
    remember(listed) {
      let entry = devices.get(listed.id)
      if (entry === undefined) entry = add(listed)
      else if (entry.cycle === cycle) return null
      else update(entry, listed)
      entry.cycle = cycle
      const translation = translationOf(entry)
      const { online } = translation.identity
      entry.missed = online === false ? entry.missed + 1 : 0
      return entry
    },
    rememberReport(report) {
      const device = { id: report.id }
      const translation = new Translation(null, device, report)
      const entry = devices.get(report.id) ?? createEntry(device, translation)
      Object.assign(entry, { listed: device, known: device, device, translation, missed: 0, cycle })
      devices.set(report.id, entry)
    },
    end() {
      for (const entry of devices.values()) if (entry.cycle !== cycle) entry.missed += 1
    },
    translationOf,
    newerLevelsOf,
    reportOf(entry) {
      const { report } = translationOf(entry)
      const levels = newerLevelsOf(entry)
      return levels === null ? report : withLevels(report, levels)
    },
    find: (id) => devices.get(id),
    discardIdentity(id) {
      const entry = devices.get(id)
      if (entry === undefined) return
      entry.known = entry.listed
      entry.device = entry.listed
      entry.identityAt = never
    },
    all: () => devices.values(),
  }
}

/**
 * A device converted to the common format. The reports are created when they are first needed. A class, because an
 * object with getters of its own needs 1 kB more.
 */
export class Translation {
  readonly #adapter: ProtocolAdapter | null
  #report: DeviceReport | null
  #withoutLevels: DeviceReport | null = null
  /** The device, which may have newer levels than the one that was translated. */
  device: UpstreamDevice
  /** The parts, other than the identity, that can be read separately. */
  readonly levelParts: readonly string[]
  readonly needsIdentity: boolean
  readonly hasIdentity: boolean

  /** With `report`, the device has reported everything itself, and needs no adapter. */
  constructor(adapter: ProtocolAdapter | null, device: UpstreamDevice, report: DeviceReport | null = null) {
    const parts = adapter?.partsOf(device) ?? []
    this.#adapter = adapter
    this.#report = report
    this.device = device
    this.levelParts = parts.filter((part) => part !== 'identity')
    this.needsIdentity = parts.includes('identity')
    this.hasIdentity = adapter?.hasIdentity(device) ?? true
  }

  get report(): DeviceReport {
    if (this.#report === null && this.#adapter !== null) this.#report = this.#adapter.transformDeviceData(this.device)
    return this.#report as DeviceReport
  }

  /**
   * The report without levels; the same object as long as nothing else changes. The complete report is discarded, because
   * a device whose levels are pushed does not need it.
   */
  get withoutLevels(): DeviceReport {
    if (this.#withoutLevels === null) {
      this.#withoutLevels = { ...this.report, channels: undefined }
      if (this.#adapter !== null) this.#report = null
    }
    return this.#withoutLevels
  }

  /** A report from which only identity fields may be read: the one without levels if it exists. */
  get identity(): DeviceReport {
    return this.#withoutLevels ?? this.report
  }

  /** Uses the report without levels of an earlier translation, because nothing else has changed. */
  reuse(earlier: Translation): void {
    this.#withoutLevels = earlier.#withoutLevels
  }
}
