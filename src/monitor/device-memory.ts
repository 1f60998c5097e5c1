/** What is remembered of a source's devices from cycle to cycle: a device that is as it was costs a comparison. */

import type { ProtocolAdapter, UpstreamDevice } from '../manufacturers/plugin.ts'
import type { DeviceReport } from '../model/receiver.ts'

export interface RememberedDevice {
  readonly id: string
  /** As it stood in the last list. */
  listed: UpstreamDevice
  /** The same with the identity that was read before. */
  known: UpstreamDevice
  /** The same with everything that was read in this cycle. */
  device: UpstreamDevice
  /** Of this `device`, and of no other. */
  translation: Translation
  /** When these were last read, of `performance.now()`. */
  identityAt: number
  levelsAt: number
  /** Good polls in a row that lacked it or called it offline. */
  missed: number
  /** What it said when it was last seen to be its receiver's own device; null where another stands in its place. */
  itself: Translation | null
  /** Good polls in a row in which another did. */
  replaced: number
  /** The last cycle that listed it. */
  cycle: number
  /** The receiver it was the last time somebody looked. */
  receiver: number | null
}

/** What a device means, worked out once, and only as far as somebody wants to know. */
interface Translation {
  readonly device: UpstreamDevice
  readonly report: DeviceReport
  /** What can be asked for beside the identity. */
  readonly levelParts: readonly string[]
  readonly wantsIdentity: boolean
  readonly hasIdentity: boolean
  /** The same observation without levels, once somebody wants it. */
  withoutLevels?: DeviceReport | undefined
}

export interface DeviceMemory {
  /** A new list begins. */
  begin(): void
  /** A device of the list; null when the list told it before. */
  remember(listed: UpstreamDevice): RememberedDevice | null
  /** The list is at its end: those that it lacked were missed once more. */
  end(): void
  translationOf(entry: RememberedDevice): Translation
  find(id: string): RememberedDevice | undefined
  all(): Iterable<RememberedDevice>
}

const never = Number.NEGATIVE_INFINITY

export function createDeviceMemory(form: ProtocolAdapter): DeviceMemory {
  const devices = new Map<string, RememberedDevice>()
  let cycle = 0

  function translationOf(entry: RememberedDevice): Translation {
    if (entry.translation.device !== entry.device) entry.translation = readMeaning(form, entry.device)
    return entry.translation
  }

  function start(listed: UpstreamDevice): RememberedDevice {
    const translation = readMeaning(form, listed)
    const read = { identityAt: never, levelsAt: never, missed: 0, itself: null, replaced: 0, cycle, receiver: null }
    const entry = { id: listed.id, listed, known: listed, device: listed, translation, ...read }
    devices.set(listed.id, entry)
    return entry
  }

  function renew(entry: RememberedDevice, listed: UpstreamDevice): void {
    // Nothing else is said, and nothing was read that would have to be forgotten.
    if (listed === entry.listed && entry.device === entry.known) return
    const before = translationOf(entry)
    const isAsListed = entry.device === entry.known
    const isSame = form.isSameIdentity(listed, entry.device)
    if (!isSame) entry.identityAt = never
    entry.known = form.withEarlierIdentity(listed, entry.device)
    entry.device = entry.known
    entry.listed = listed
    entry.translation = readMeaning(form, entry.device)
    // Where levels come over a link, what the list says of them is not even translated.
    if (isSame && isAsListed) entry.translation.withoutLevels = before.withoutLevels
  }

  return {
    begin() {
      cycle += 1
    },
    remember(listed) {
      let entry = devices.get(listed.id)
      if (entry === undefined) entry = start(listed)
      else if (entry.cycle === cycle) return null
      else renew(entry, listed)
      entry.cycle = cycle
      const translation = translationOf(entry)
      const { online } = identityOf(translation)
      entry.missed = online === false ? entry.missed + 1 : 0
      return entry
    },
    end() {
      for (const entry of devices.values()) if (entry.cycle !== cycle) entry.missed += 1
    },
    translationOf,
    find: (id) => devices.get(id),
    all: () => devices.values(),
  }
}

function readMeaning(form: ProtocolAdapter, device: UpstreamDevice): Translation {
  const parts = form.partsOf(device)
  let report: DeviceReport | undefined
  return {
    device,
    get report() {
      report ??= form.transformDeviceData(device)
      return report
    },
    levelParts: parts.filter((part) => part !== 'identity'),
    wantsIdentity: parts.includes('identity'),
    hasIdentity: form.hasIdentity(device),
  }
}

/** For what it says of the device itself: what is translated already will do. */
export function identityOf(translation: Translation): DeviceReport {
  return translation.withoutLevels ?? translation.report
}

/** What it says of everything but levels; the same object as long as that is the same. */
export function withoutLevels(translation: Translation): DeviceReport {
  translation.withoutLevels ??= { ...translation.report, channels: undefined }
  return translation.withoutLevels
}
