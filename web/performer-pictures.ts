/** Loads the pictures of performers that are too long for messages. */

import type { LivePerformerBody } from '../src/contract/live-messages.ts'
import type { Api } from './api.ts'
import { pictureKey } from './assigned-performers.ts'
import type { Store } from './store.ts'

/**
 * Loads the pictures of assigned performers that are too large for messages, whenever they change, until `signal` is
 * aborted.
 */
export function loadPictures(store: Store, api: Api, signal: AbortSignal): void {
  const requested = new Set<string>()
  let seen: readonly unknown[] = []
  const unsubscribe = store.subscribe(() => {
    const { assignments, performers } = store.get()
    if (seen[0] === assignments && seen[1] === performers) return
    seen = [assignments, performers]
    const assigned = new Set(assignments.map(({ performer }) => performer.id))
    for (const performer of performers) if (assigned.has(performer.id)) void load(performer)
  })
  signal.addEventListener('abort', unsubscribe)

  async function load(performer: LivePerformerBody) {
    const key = pictureKey(performer)
    if (key === null || requested.has(key)) return
    requested.add(key)
    const response = await api.read(`/api/performers/${performer.id}/`, 'object')
    if (!response.ok) requested.delete(key)
    else if (response.body.picture !== null) {
      store.dispatch({ type: 'picture', key, picture: response.body.picture, at: Date.now() })
    }
  }
}
