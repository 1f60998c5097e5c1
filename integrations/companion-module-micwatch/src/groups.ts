/** Finds the group of slots to which a connection is limited. */

import { InstanceStatus } from '@companion-module/base'
import type { MicwatchApi } from './api.ts'
import { ProblemError } from './problems.ts'
import type { Group } from './wire.ts'

/** Returns the id of the group with this id or title; null for null. Throws a ProblemError if there is no such group. */
export async function findGroup(api: Pick<MicwatchApi, 'get'>, wanted: string | null): Promise<number | null> {
  if (wanted === null) return null
  const groups = readGroups(await api.get('/api/groups/'))
  const found = groups.find(({ title }) => title === wanted) ?? groups.find(({ id }) => String(id) === wanted)
  if (found !== undefined) return found.id
  const titles = groups.map(({ title }) => title).join(', ')
  throw new ProblemError({
    status: InstanceStatus.BadConfig,
    message: `There is no group "${wanted}". ${titles === '' ? 'There are no groups.' : `There are: ${titles}.`}`,
  })
}

function readGroups(body: unknown): readonly Group[] {
  return Array.isArray(body) ? body : []
}
