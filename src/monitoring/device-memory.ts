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
  /** Newer levels than those in the translation; null if there are none. */
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

/** A device converted to the common format. The report is computed on first access. */
export interface Translation {
  /** The device, which may have newer levels than the one that was translated. */
  device: UpstreamDevice
  readonly report: DeviceReport
  /** The parts, other than the identity, that can be read separately. */
  readonly levelParts: readonly string[]
  readonly needsIdentity: boolean
  readonly hasIdentity: boolean
  /** Cache of `withoutLevels`. */
  withoutLevels?: DeviceReport | undefined
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
      entry.translation = translate(adapter, entry.device)
      entry.levels = null
    }
    return entry.translation
  }

  function createEntry(device: UpstreamDevice, translation: Translation): RememberedDevice {
    const initial = {
      identityAt: never,
      levelsAt: never,
      missed: 0,
      confirmed: null,
      replaced: 0,
      cycle,
      receiver: null,
      levels: null,
    }
    return { id: device.id, listed: device, known: device, device, translation, ...initial }
  }

  function add(listed: UpstreamDevice): RememberedDevice {
    const entry = createEntry(listed, translate(adapter, listed))
    devices.set(listed.id, entry)
    return entry
  }

  function update(entry: RememberedDevice, listed: UpstreamDevice): void {
    // The list entry is the same object, and there are no readings of the previous cycle to discard.
    if (listed === entry.listed && entry.device === entry.known) return
    const before = translationOf(entry)
    const hasNoReadings = entry.device === entry.known
    const levels = hasNoReadings ? adapter.readLevels?.(listed, entry.listed) : undefined
    if (levels !== undefined) {
      entry.known = adapter.withEarlierIdentity(listed, entry.device)
      entry.device = entry.known
      entry.listed = listed
      before.device = entry.device
      entry.levels = levels
      return
    }
    const isSame = adapter.isSameIdentity(listed, entry.device)
    if (!isSame) entry.identityAt = never
    entry.known = adapter.withEarlierIdentity(listed, entry.device)
    entry.device = entry.known
    entry.listed = listed
    entry.translation = translate(adapter, entry.device)
    entry.levels = null
    // The report without levels is the same as before, so it is reused. A device whose levels are pushed needs only
    // this report, and is therefore not translated again.
    if (isSame && hasNoReadings) entry.translation.withoutLevels = before.withoutLevels
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
      const { online } = identityOf(translation)
      entry.missed = online === false ? entry.missed + 1 : 0
      return entry
    },
    rememberReport(report) {
      const device = { id: report.id }
      const translation = { device, report, levelParts: [], needsIdentity: false, hasIdentity: true }
      const entry = devices.get(report.id) ?? createEntry(device, translation)
      Object.assign(entry, { listed: device, known: device, device, translation, missed: 0, cycle })
      devices.set(report.id, entry)
    },
    end() {
      for (const entry of devices.values()) if (entry.cycle !== cycle) entry.missed += 1
    },
    translationOf,
    reportOf(entry) {
      const { report } = translationOf(entry)
      return entry.levels === null ? report : withLevels(report, entry.levels)
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

function translate(adapter: ProtocolAdapter, device: UpstreamDevice): Translation {
  const parts = adapter.partsOf(device)
  let report: DeviceReport | undefined
  return {
    device,
    get report() {
      report ??= adapter.transformDeviceData(device)
      return report
    },
    levelParts: parts.filter((part) => part !== 'identity'),
    needsIdentity: parts.includes('identity'),
    hasIdentity: adapter.hasIdentity(device),
  }
}

/**
 * Returns a report from which only identity fields may be read: the one without levels if it exists, which avoids a
 * translation.
 */
export function identityOf(translation: Translation): DeviceReport {
  return translation.withoutLevels ?? translation.report
}

/** Returns the report without levels; the same object as long as nothing else changes. */
export function withoutLevels(translation: Translation): DeviceReport {
  translation.withoutLevels ??= { ...translation.report, channels: undefined }
  return translation.withoutLevels
}
