import type { ChannelAssignment, Performer } from '../contract/performers.ts'
import type { Assignment } from '../domain/equipment/hardware.ts'
import { withMount } from '../domain/equipment/picture.ts'
import { isSameJson } from '../domain/json.ts'
import { toChannelAssignments } from '../domain/live/lists.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import { Topic } from '../platform/topic.ts'
import type { Reader } from '../storage/database.ts'
import { listAssignments, listPerformers } from '../storage/hardware.ts'
import { currentRevision } from '../storage/revision.ts'

export interface StoredCast {
  /** The counter of changes that this state includes. */
  readonly revision: number
  readonly performers: readonly Performer[]
  /** The active assignments. */
  readonly assignments: readonly Assignment[]
}

/**
 * The performers, and who wears which transmitter. They are loaded together with what was entered about slots, which
 * names performers.
 */
export class Cast {
  readonly performersChanged = new Topic()
  /** Units of the receivers with these ids have other assignments. */
  readonly assignmentsChanged = new Topic<ReadonlySet<number>>()
  readonly #unitStore: UnitStore
  readonly #mount: string
  #current: StoredCast = { revision: -1, performers: [], assignments: [] }

  /** `mount`: the path below which the service is reachable, for the addresses of pictures. */
  constructor(unitStore: UnitStore, mount: string) {
    this.#unitStore = unitStore
    this.#mount = mount
  }

  performers(): readonly Performer[] {
    return this.#current.performers.map((performer) => withMount(performer, this.#mount))
  }

  /** Returns the active assignments of this installation. */
  active(): readonly Assignment[] {
    return this.#current.assignments
  }

  /** Returns the active assignments of this installation, each with its channel. */
  assignments(): readonly ChannelAssignment[] {
    const { assignments, performers } = this.#current
    return toChannelAssignments(assignments, performers, (id) => this.#unitStore.get(id))
  }

  /** Reads the stored state. Returns the current one if nothing was stored since. */
  async read(reader: Reader): Promise<StoredCast> {
    const revision = await currentRevision(reader, 'cast')
    if (revision === this.#current.revision) return this.#current
    const assignments = await listAssignments(reader, { is_active: true })
    return { revision, performers: await listPerformers(reader), assignments }
  }

  /** Replaces everything. Returns whether anything changed. */
  replace(cast: StoredCast): boolean {
    if (cast === this.#current) return false
    const { performers, assignments } = this.#current
    this.#current = cast
    const units = listDiffering(assignments, cast.assignments)
    const isSameCast = isSameJson(performers, cast.performers)
    if (!isSameCast) this.performersChanged.publish()
    if (units.length > 0) {
      this.assignmentsChanged.publish(new Set(units.map((id) => this.#unitStore.get(id)?.receiver_id ?? 0)))
    }
    return !isSameCast || units.length > 0
  }
}

/** Returns the units whose assignments differ. */
function listDiffering(before: readonly Assignment[], after: readonly Assignment[]): readonly number[] {
  const previous = new Map(before.map((assignment) => [assignment.wireless_unit, assignment]))
  const changed = after.filter((assignment) => {
    const known = previous.get(assignment.wireless_unit)
    previous.delete(assignment.wireless_unit)
    return !isSameJson(known, assignment)
  })
  return [...changed.map(({ wireless_unit }) => wireless_unit), ...previous.keys()]
}
