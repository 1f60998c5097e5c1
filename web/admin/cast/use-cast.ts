import type { UnitBody } from '../../../src/contract/hardware.ts'
import type { AssignmentBody, Performer } from '../../../src/contract/performers.ts'
import type { SlotChange, SlotRecord } from '../../../src/contract/slots.ts'
import type { Api, ApiResponse } from '../../app/api.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { type Resource, useResource } from '../../app/resource.ts'

type Assignment = Pick<AssignmentBody, 'id' | 'performer' | 'wireless_unit'>

export interface Cast {
  readonly performers: readonly Performer[]
  readonly assignments: readonly Assignment[]
  readonly units: readonly UnitBody[]
  readonly slots: readonly SlotRecord[]
}

const performerTopics = ['performers'] as const
const assignmentTopics = ['assignments', 'performers'] as const
const slotTopics = ['slot_records'] as const
const unitTopics = ['assignments', 'receiver_added', 'receiver_removed'] as const

export function useCast(): Resource<Cast> {
  const performers = useResource('/api/performers/', 'list', performerTopics)
  const assignments = useResource('/api/assignments/?is_active=true', 'list', assignmentTopics)
  const units = useResource('/api/units/', 'list', unitTopics)
  const slots = useResource('/api/slots/', 'list', slotTopics)
  const all = [performers, assignments, units, slots]
  const isLoaded = all.every(({ body }) => body !== null)
  return {
    body: isLoaded
      ? {
          performers: performers.body ?? [],
          assignments: (assignments.body ?? []).filter((assignment) => assignment.id !== null),
          units: (units.body ?? []).filter((unit) => unit.id !== null),
          slots: slots.body ?? [],
        }
      : null,
    problem: all.find(({ problem }) => problem !== null)?.problem ?? null,
    isChanging: false,
    readAt: Math.min(...all.map(({ readAt }) => readAt ?? 0)) || null,
    async reload() {
      await Promise.all(all.map(({ reload }) => reload()))
    },
  }
}

/** A slot of a performer, or a pack that no slot receives. */
export interface Place {
  readonly key: string
  readonly text: string
  unassign(api: Api): Promise<ApiResponse<unknown>>
  /** Undoes `unassign`. */
  assign(api: Api): Promise<ApiResponse<unknown>>
}

export function placesOf(performer: number, { slots, assignments, units }: Cast): readonly Place[] {
  const records = slots.filter((record) => record.performer?.id === performer)
  const away = assignments.filter(
    (assignment) =>
      assignment.performer === performer && units.find(({ id }) => id === assignment.wireless_unit)?.slot == null,
  )
  return [
    ...records.map(({ slot, unit_id, role }) => ({
      key: `slot ${slot}`,
      text: [t('cast.slot', { slot: String(slot) }), ...(unit_id === null ? [] : [unitName(units, unit_id)])].join(
        ', ',
      ),
      unassign: (api: Api) => changeSlot(api, slot, { performer_id: null, role: null }),
      assign: (api: Api) => changeSlot(api, slot, { performer_id: performer, role }),
    })),
    ...away.map(({ id, wireless_unit }) => ({
      key: `unit ${wireless_unit}`,
      text: unitName(units, wireless_unit),
      unassign: (api: Api) => setActive(api, id, false),
      assign: (api: Api) => setActive(api, id, true),
    })),
  ]
}

export function changeSlot(api: Api, slot: number, change: SlotChange): Promise<ApiResponse<SlotRecord>> {
  return api.write('PUT', `/api/slots/${slot}/`, change, 'object')
}

function setActive(api: Api, id: Assignment['id'], is_active: boolean): Promise<ApiResponse<AssignmentBody>> {
  return api.write('PUT', `/api/assignments/${id}/`, { is_active }, 'object')
}

function unitName(units: readonly UnitBody[], id: number): string {
  const name = units.find((unit) => unit.id === id)?.name ?? null
  return name === null ? t('performers.unnamedUnit', { id }) : plainText(name)
}
