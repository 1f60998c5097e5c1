/** Several receivers, each put into a place by a call of its own. */

import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import type { Standing } from '../layout.ts'
import { oneByOne } from '../one-by-one.ts'
import { nameOf } from './layout-place.tsx'

export const receiversPath = '/api/admin/receivers/'

/** Puts each into the place it is told with. */
export function useMove() {
  const { api } = useSurroundings()
  return (moves: readonly Standing[], reason: string) => {
    const byId = new Map(moves.map((one) => [one.receiver.id, one]))
    return oneByOne([...byId.keys()], nameIn(moves), (id) => {
      const location = byId.get(id)?.place ?? null
      const body = { location, ...(reason !== '' && { reason }) }
      return api.write('PATCH', `${receiversPath}${id}/`, body, isObject)
    })
  }
}

export function nameIn(standing: readonly Standing[]): (id: number) => string {
  return (id) => {
    const found = standing.find(({ receiver }) => receiver.id === id)
    return found === undefined ? String(id) : nameOf(found.receiver)
  }
}
