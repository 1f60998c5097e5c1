/** The current placeholders, in memory. They are loaded together with the receivers, with which they share the slots. */

import type { Placeholder } from '../domain/equipment/placeholder.ts'
import { isSameJson } from '../domain/json.ts'

export interface PlaceholderStore {
  /** The counter of changes that this state includes. */
  revision: number
  /** Returns all placeholders, ordered by id. */
  list(): readonly Placeholder[]
  /** Replaces all placeholders. Returns whether anything changed. */
  replace(placeholders: readonly Placeholder[]): boolean
}

export function createPlaceholderStore(onChanged: () => void): PlaceholderStore {
  let current: readonly Placeholder[] = []
  return {
    revision: -1,
    list: () => current,
    replace(placeholders) {
      if (isSameJson(current, placeholders)) return false
      current = placeholders
      onChanged()
      return true
    },
  }
}
