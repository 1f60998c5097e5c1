/** Who wears what: read when the page opens, when told to, and every few seconds; kept as it was when that fails. */

import type { Performer, UnitBody } from '../src/model/hardware.ts'
import { type Api, isList } from './api.ts'
import { type Wearer, wearerKey } from './state.ts'
import type { Store } from './store.ts'

interface AssignmentBody {
  readonly performer: number
  readonly wireless_unit: number
}

const everyMs = 10_000
/** What no assignment tells: a transmitter that is heard on another channel. */
const unitsEveryMs = 5 * 60_000

export interface WatchWearersOptions {
  readonly store: Store
  readonly api: Api
  readonly signal: AbortSignal
}

/** The function it gives reads all of it again, now. */
export function watchWearers({ store, api, signal }: WatchWearersOptions): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let performers: readonly Performer[] = []
  let readAt = Number.NEGATIVE_INFINITY
  let said = ''

  signal.addEventListener('abort', () => clearTimeout(timer))
  void read()
  return () => {
    readAt = Number.NEGATIVE_INFINITY
    void read()
  }

  async function read() {
    clearTimeout(timer)
    // With the names, so that the answer differs when somebody is renamed, or given another picture: those are large.
    const assignments = await api.read('/api/assignments/?is_active=true&names=true', isList<AssignmentBody>)
    if (assignments.ok && !signal.aborted) await take(assignments.body)
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(read, everyMs)
  }

  async function take(assignments: readonly AssignmentBody[]) {
    const text = JSON.stringify(assignments)
    const isOld = performance.now() - readAt > unitsEveryMs
    if (text === said && !isOld) return
    const units = assignments.length === 0 ? null : await api.read('/api/units/', isList<UnitBody>)
    const people = assignments.length === 0 ? null : await api.read('/api/performers/', isList<Performer>)
    if (signal.aborted || units?.ok === false || people?.ok === false) return
    if (people?.ok) performers = people.body
    said = text
    readAt = performance.now()
    const wearers = joinWearers(assignments, units?.ok ? units.body : [], performers)
    store.dispatch({ type: 'wearers', wearers, at: Date.now() })
  }
}

/** By the channel that each one's transmitter is heard on. */
export function joinWearers(
  assignments: readonly AssignmentBody[],
  units: readonly Pick<UnitBody, 'id' | 'base_chassis' | 'channel'>[],
  performers: readonly Pick<Performer, 'id' | 'name' | 'picture'>[],
): ReadonlyMap<string, Wearer> {
  const wearers = new Map<string, Wearer>()
  for (const { performer: id, wireless_unit } of assignments) {
    const unit = units.find((one) => one.id === wireless_unit)
    const performer = performers.find((one) => one.id === id)
    if (!unit || !performer || unit.base_chassis === null || unit.channel === null) continue
    const { name, picture } = performer
    wearers.set(wearerKey(unit.base_chassis, unit.channel), { performer: id, name, picture: showable(picture) })
  }
  return wearers
}

/** What the Content-Security-Policy lets a page show: data, or something of this very service. */
export function showable(picture: string | null): string | null {
  return picture !== null && /^(data:image\/|\/(?!\/))/.test(picture) ? picture : null
}
