/** What is remembered of a source's devices from cycle to cycle: a device that is as it was costs a comparison. */

import type { Form, UpstreamDevice } from '../manufacturers/plugin.ts'
import type { Observation } from '../model/receiver.ts'

export interface Remembered {
  readonly id: string
  /** As it stood in the last list. */
  listed: UpstreamDevice
  /** The same with the identity that was read before. */
  known: UpstreamDevice
  /** The same with everything that was read in this cycle. */
  device: UpstreamDevice
  /** Of this `device`, and of no other. */
  meaning: Meaning
  /** When these were last read, of `performance.now()`. */
  identityAt: number
  levelsAt: number
  /** Good polls in a row that lacked it or called it offline. */
  missed: number
  /** What it said when it was last seen to be its receiver's own device; null where another stands in its place. */
  itself: Meaning | null
  /** Good polls in a row in which another did. */
  replaced: number
  /** The last cycle that listed it. */
  cycle: number
  /** The receiver it was the last time somebody looked. */
  receiver: number | null
}

/** What a device means, worked out once, and only as far as somebody wants to know. */
interface Meaning {
  readonly device: UpstreamDevice
  readonly observation: Observation
  /** What can be asked for beside the identity. */
  readonly levelParts: readonly string[]
  readonly wantsIdentity: boolean
  readonly hasIdentity: boolean
  /** The same observation without levels, once somebody wants it. */
  withoutLevels?: Observation | undefined
}

export interface Memory {
  /** A new list begins. */
  begin(): void
  /** A device of the list; null when the list told it before. */
  remember(listed: UpstreamDevice): Remembered | null
  /** The list is at its end: those that it lacked were missed once more. */
  end(): void
  meaningOf(entry: Remembered): Meaning
  find(id: string): Remembered | undefined
  all(): Iterable<Remembered>
}

const never = Number.NEGATIVE_INFINITY

export function createMemory(form: Form): Memory {
  const devices = new Map<string, Remembered>()
  let cycle = 0

  function meaningOf(entry: Remembered): Meaning {
    if (entry.meaning.device !== entry.device) entry.meaning = readMeaning(form, entry.device)
    return entry.meaning
  }

  function start(listed: UpstreamDevice): Remembered {
    const meaning = readMeaning(form, listed)
    const read = { identityAt: never, levelsAt: never, missed: 0, itself: null, replaced: 0, cycle, receiver: null }
    const entry = { id: listed.id, listed, known: listed, device: listed, meaning, ...read }
    devices.set(listed.id, entry)
    return entry
  }

  function renew(entry: Remembered, listed: UpstreamDevice): void {
    // Nothing else is said, and nothing was read that would have to be forgotten.
    if (listed === entry.listed && entry.device === entry.known) return
    const before = meaningOf(entry)
    const isAsListed = entry.device === entry.known
    const isSame = form.isSameIdentity(listed, entry.device)
    if (!isSame) entry.identityAt = never
    entry.known = form.withEarlierIdentity(listed, entry.device)
    entry.device = entry.known
    entry.listed = listed
    entry.meaning = readMeaning(form, entry.device)
    // Where levels come over a link, what the list says of them is not even translated.
    if (isSame && isAsListed) entry.meaning.withoutLevels = before.withoutLevels
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
      const meaning = meaningOf(entry)
      const { online } = identityOf(meaning)
      entry.missed = online === false ? entry.missed + 1 : 0
      return entry
    },
    end() {
      for (const entry of devices.values()) if (entry.cycle !== cycle) entry.missed += 1
    },
    meaningOf,
    find: (id) => devices.get(id),
    all: () => devices.values(),
  }
}

function readMeaning(form: Form, device: UpstreamDevice): Meaning {
  const parts = form.partsOf(device)
  let observation: Observation | undefined
  return {
    device,
    get observation() {
      observation ??= form.transformDeviceData(device)
      return observation
    },
    levelParts: parts.filter((part) => part !== 'identity'),
    wantsIdentity: parts.includes('identity'),
    hasIdentity: form.hasIdentity(device),
  }
}

/** For what it says of the device itself: what is translated already will do. */
export function identityOf(meaning: Meaning): Observation {
  return meaning.withoutLevels ?? meaning.observation
}

/** What it says of everything but levels; the same object as long as that is the same. */
export function withoutLevels(meaning: Meaning): Observation {
  meaning.withoutLevels ??= { ...meaning.observation, channels: undefined }
  return meaning.withoutLevels
}
