/** Loads the performer assignments at start, on request and periodically. Keeps the last result if a request fails. */

import type { Performer, UnitBody } from '../src/contract/live.ts'
import type { Api } from './api.ts'
import { type AssignedPerformer, performerKey } from './state.ts'
import type { Store } from './store.ts'

interface AssignmentBody {
  readonly performer: number
  readonly wireless_unit: number
}

const intervalMs = 10_000
/**
 * Reloads the units and performers at this interval even if no assignment has changed, because a transmitter that moves
 * to another channel does not change its assignment.
 */
const unitsIntervalMs = 5 * 60_000

export interface PollPerformersOptions {
  readonly store: Store
  readonly api: Api
  readonly signal: AbortSignal
}

/** Starts polling. Returns a function that reloads everything. */
export function pollPerformers({ store, api, signal }: PollPerformersOptions): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let performers: readonly Performer[] = []
  let readAt = Number.NEGATIVE_INFINITY
  let previous = ''

  signal.addEventListener('abort', () => clearTimeout(timer))
  void read()
  return () => {
    readAt = Number.NEGATIVE_INFINITY
    void read()
  }

  async function read() {
    clearTimeout(timer)
    // `names=true` adds each performer's name and a picture tag, so that this response changes when a performer is
    // renamed or given another picture. The performer list contains the pictures, which are large, so it is reloaded
    // only when this response has changed, and every `unitsIntervalMs`.
    const assignments = await api.read('/api/assignments/?is_active=true&names=true', 'list')
    if (assignments.ok && !signal.aborted) await update(assignments.body)
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(read, intervalMs)
  }

  async function update(assignments: readonly AssignmentBody[]) {
    const text = JSON.stringify(assignments)
    const isOld = performance.now() - readAt > unitsIntervalMs
    if (text === previous && !isOld) return
    const units = assignments.length === 0 ? null : await api.read('/api/units/', 'list')
    const performerList = assignments.length === 0 ? null : await api.read('/api/performers/', 'list')
    if (signal.aborted || units?.ok === false || performerList?.ok === false) return
    if (performerList?.ok) performers = performerList.body
    previous = text
    readAt = performance.now()
    const assigned = joinAssignments(assignments, units?.ok ? units.body : [], performers)
    store.dispatch({ type: 'performers', performers: assigned, at: Date.now() })
  }
}

/** Returns the assigned performers, keyed by the channel on which their transmitter was received. */
export function joinAssignments(
  assignments: readonly AssignmentBody[],
  units: readonly Pick<UnitBody, 'id' | 'base_chassis' | 'channel'>[],
  performers: readonly Pick<Performer, 'id' | 'name' | 'picture'>[],
): ReadonlyMap<string, AssignedPerformer> {
  const assigned = new Map<string, AssignedPerformer>()
  for (const { performer: id, wireless_unit } of assignments) {
    const unit = units.find((unit) => unit.id === wireless_unit)
    const performer = performers.find((performer) => performer.id === id)
    if (!unit || !performer || unit.base_chassis === null || unit.channel === null) continue
    const { name, picture } = performer
    assigned.set(performerKey(unit.base_chassis, unit.channel), { performer: id, name, picture: showable(picture) })
  }
  return assigned
}

/** Returns the picture if the Content-Security-Policy allows it: a data URL, or a path on this service. */
export function showable(picture: string | null): string | null {
  return picture !== null && /^(data:image\/|\/(?!\/))/.test(picture) ? picture : null
}
