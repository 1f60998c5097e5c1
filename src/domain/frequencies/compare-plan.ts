/** Compares the carriers of a plan with what is tuned, or with another plan. */

import type { PlanCarrierBody, PlanComparisonBody } from '../../contract/frequency-plans.ts'
import { type PlanResult, planResults } from '../../contract/values.ts'

/** A tuned channel, or a carrier of the other plan. */
export interface PresentCarrier {
  readonly slot: number | null
  readonly name: string | null
  readonly mhz: string
  /** False if no transmitter is received. */
  readonly isOn: boolean
}

type PlannedCarrier = Pick<PlanCarrierBody, 'id' | 'slot' | 'name' | 'mhz'>

/** Carriers correspond by slot; without a slot by name, and without either by frequency. Each corresponds to one. */
export function comparePlan(
  planned: readonly PlannedCarrier[],
  present: readonly PresentCarrier[],
  titleOf: (slot: number) => string | null,
): Omit<PlanComparisonBody, 'with'> {
  const found = new Map<string, PresentCarrier>()
  const left = new Set(present)
  for (const isSame of [haveSameSlot, haveSameName, areUnnamedAlike]) {
    for (const carrier of planned) {
      if (found.has(carrier.id)) continue
      const match = [...left].find((other) => isSame(carrier, other))
      if (match === undefined) continue
      found.set(carrier.id, match)
      left.delete(match)
    }
  }
  const carriers = planned.map(({ id, slot, name, mhz }) => {
    const match = found.get(id)
    const title = name ?? (slot === null ? null : titleOf(slot))
    return { id, slot, name: title, result: resultOf(mhz, match), planned: mhz, tuned: match?.mhz ?? null }
  })
  const count = (result: PlanResult) => carriers.filter((carrier) => carrier.result === result).length
  return {
    carriers,
    totals: Object.fromEntries(planResults.map((result) => [result, count(result)])) as Record<PlanResult, number>,
    others: [...left].map(({ slot, name, mhz }) => ({ slot, name, mhz })),
  }
}

function resultOf(planned: string, present: PresentCarrier | undefined): PlanResult {
  if (present === undefined) return 'missing'
  if (present.mhz !== planned) return 'differs'
  return present.isOn ? 'same' : 'off'
}

type IsSame = (planned: PlannedCarrier, present: PresentCarrier) => boolean

const haveSameSlot: IsSame = (planned, present) => planned.slot !== null && planned.slot === present.slot

const haveSameName: IsSame = (planned, present) =>
  (planned.slot === null || present.slot === null) &&
  planned.name !== null &&
  planned.name.toLowerCase() === present.name?.toLowerCase()

const areUnnamedAlike: IsSame = (planned, present) =>
  planned.slot === null && planned.name === null && planned.mhz === present.mhz
