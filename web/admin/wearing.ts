/** Who wears what, as the page of performers needs it; and how that changes. */

import type { Performer, UnitBody } from '../../src/model/hardware.ts'
import { type Answer, type Api, isList, isObject } from '../api.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { type Reading, useReading } from '../reading.ts'

/** One that is in force. */
export interface Wearing {
  readonly id: number
  readonly performer: number
  readonly wireless_unit: number
}

export interface Cast {
  readonly performers: readonly Performer[]
  readonly wearings: readonly Wearing[]
  readonly units: readonly UnitBody[]
}

const everyMs = 10_000
/** Pictures are large and change rarely. */
const performersEveryMs = 60_000

/** All three together, as one reading. */
export function useCast(): Reading<Cast> {
  const performers = useReading('/api/performers/', isList<Performer>, performersEveryMs)
  const wearings = useReading('/api/assignments/?is_active=true', isList<Wearing>, everyMs)
  const units = useReading('/api/units/', isList<UnitBody>, everyMs)
  const isWhole = performers.body !== null && wearings.body !== null && units.body !== null
  return {
    body: isWhole
      ? { performers: performers.body ?? [], wearings: wearings.body ?? [], units: units.body ?? [] }
      : null,
    problem: performers.problem ?? wearings.problem ?? units.problem,
    isChanging: false,
    readAt: Math.min(performers.readAt ?? 0, wearings.readAt ?? 0, units.readAt ?? 0) || null,
    async reload() {
      await Promise.all([performers.reload(), wearings.reload(), units.reload()])
    },
  }
}

export function unitName(units: readonly UnitBody[], id: number): string {
  const unit = units.find((one) => one.id === id)
  return unit === undefined ? t('performers.unavailableUnit', { id }) : plainText(nameOf(unit))
}

export function setActive(api: Api, { id }: Pick<Wearing, 'id'>, is_active: boolean): Promise<Answer<Wearing>> {
  return api.write('PUT', `/api/assignments/${id}/`, { is_active }, isObject<Wearing>)
}

/** Whoever wore it until now does not any more. */
export async function assign(
  api: Api,
  { wearings }: Pick<Cast, 'wearings'>,
  wanted: Omit<Wearing, 'id'>,
): Promise<Answer<Wearing>> {
  const worn = wearings.find(({ wireless_unit }) => wireless_unit === wanted.wireless_unit)
  const ended = worn === undefined ? null : await setActive(api, worn, false)
  if (ended?.ok === false) return ended
  return api.write('POST', '/api/assignments/', wanted, isObject<Wearing>)
}

function nameOf({ id, name, slot }: UnitBody): string {
  const shown = name ?? t('performers.unnamedUnit', { id })
  return slot === null ? shown : t('performers.unitWithSlot', { name: shown, slot })
}
