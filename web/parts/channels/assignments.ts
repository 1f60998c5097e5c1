import type { UnitBody } from '../../../src/contract/hardware.ts'
import type { AssignmentBody, Performer } from '../../../src/contract/performers.ts'
import type { Api, ApiResponse } from '../../app/api.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { type Resource, useResource } from '../../app/resource.ts'

export type Assignment = Pick<AssignmentBody, 'id' | 'performer' | 'wireless_unit'>

export interface Cast {
  readonly performers: readonly Performer[]
  readonly assignments: readonly Assignment[]
  readonly units: readonly UnitBody[]
}

const performerTopics = ['performers'] as const
const assignmentTopics = ['assignments', 'performers'] as const
const unitTopics = ['assignments', 'receiver_added', 'receiver_removed'] as const

export function useCast(): Resource<Cast> {
  const performers = useResource('/api/performers/', 'list', performerTopics)
  const assignments = useResource('/api/assignments/?is_active=true', 'list', assignmentTopics)
  const units = useResource('/api/units/', 'list', unitTopics)
  const isLoaded = performers.body !== null && assignments.body !== null && units.body !== null
  return {
    body: isLoaded
      ? {
          performers: performers.body ?? [],
          assignments: (assignments.body ?? []).filter((assignment) => assignment.id !== null),
          units: (units.body ?? []).filter((unit) => unit.id !== null),
        }
      : null,
    problem: performers.problem ?? assignments.problem ?? units.problem,
    isChanging: false,
    readAt: Math.min(performers.readAt ?? 0, assignments.readAt ?? 0, units.readAt ?? 0) || null,
    async reload() {
      await Promise.all([performers.reload(), assignments.reload(), units.reload()])
    },
  }
}

export function unitName(units: readonly UnitBody[], id: number): string {
  const unit = units.find((unit) => unit.id === id)
  return unit === undefined ? t('performers.unavailableUnit', { id }) : plainText(nameOf(unit))
}

export function setActive(
  api: Api,
  { id }: Pick<Assignment, 'id'>,
  is_active: boolean,
): Promise<ApiResponse<Assignment>> {
  return api.write('PUT', `/api/assignments/${id}/`, { is_active }, 'object')
}

export async function assign(
  api: Api,
  { assignments }: Pick<Cast, 'assignments'>,
  assignment: Omit<Assignment, 'id'>,
): Promise<ApiResponse<Assignment>> {
  const previous = assignments.find(({ wireless_unit }) => wireless_unit === assignment.wireless_unit)
  const ended = previous === undefined ? null : await setActive(api, previous, false)
  if (ended?.ok === false) return ended
  return api.write('POST', '/api/assignments/', assignment, 'object')
}

function nameOf({ id, name, slot }: UnitBody): string {
  const shown = name ?? t('performers.unnamedUnit', { id })
  return slot === null ? shown : t('performers.unitWithSlot', { name: shown, slot })
}
