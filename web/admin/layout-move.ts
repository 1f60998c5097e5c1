/** Moves several receivers, one request each. */

import { useServices } from '../app/context.ts'
import { runForEach } from '../parts/run-for-each.ts'
import type { PlacedReceiver } from './layout.ts'
import { nameOf } from './layout-location.tsx'

export const receiversPath = '/api/admin/receivers/'

/** Returns a function that moves each receiver to the given location. */
export function useMove() {
  const { api } = useServices()
  return (moves: readonly PlacedReceiver[], reason: string) => {
    const byId = new Map(moves.map((move) => [move.receiver.id, move]))
    return runForEach([...byId.keys()], nameIn(moves), (id) => {
      const location = byId.get(id)?.locationId ?? null
      const body = { location, ...(reason !== '' && { reason }) }
      return api.write('PATCH', `${receiversPath}${id}/`, body, 'object')
    })
  }
}

export function nameIn(receivers: readonly PlacedReceiver[]): (id: number) => string {
  return (id) => {
    const found = receivers.find(({ receiver }) => receiver.id === id)
    return found === undefined ? String(id) : nameOf(found.receiver)
  }
}
