import type { Placeholder } from '../domain/equipment/slots.ts'
import { isSameJson } from '../domain/json.ts'
import { Topic } from '../platform/topic.ts'

/** The current placeholders. They are loaded together with the receivers, with which they share the slots. */
export class PlaceholderStore {
  readonly changed = new Topic()
  /** The counter of changes that this state includes. */
  revision = -1
  #current: readonly Placeholder[] = []

  /** Returns all placeholders, ordered by id. */
  list(): readonly Placeholder[] {
    return this.#current
  }

  /** Replaces all placeholders. Returns whether anything changed. */
  replace(placeholders: readonly Placeholder[]): boolean {
    if (isSameJson(this.#current, placeholders)) return false
    this.#current = placeholders
    this.changed.publish()
    return true
  }
}
