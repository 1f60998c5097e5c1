import type { ChannelAssignment, Performer } from '../contract/performers.ts'
import { withMount } from '../domain/equipment/picture.ts'
import { toChannelAssignments, toPerformerNames } from '../domain/live/lists.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import type { StoredLists } from './stored-lists.ts'

/** The performers, and who wears which transmitter. */
export class Cast {
  readonly #lists: StoredLists
  readonly #unitStore: UnitStore
  readonly #mount: string

  /** `mount`: the path below which the service is reachable, for the addresses of pictures. */
  constructor(lists: StoredLists, unitStore: UnitStore, mount: string) {
    this.#lists = lists
    this.#unitStore = unitStore
    this.#mount = mount
  }

  performers(): readonly Performer[] {
    return this.#lists.current.performers.map((performer) => withMount(performer, this.#mount))
  }

  /** Returns the active assignments of this installation, each with its channel. */
  assignments(): readonly ChannelAssignment[] {
    const { assignments, performers } = this.#lists.current
    return toChannelAssignments(assignments, performers, (id) => this.#unitStore.get(id))
  }

  /** Returns the names of the performers who wear the units of channels, by the id of the channel. */
  performerNames(): ReadonlyMap<number, string> {
    return toPerformerNames(this.assignments())
  }
}
