/** Placeholders: equipment without telemetry, and blank slots on the wall. */

import type { Group } from '../../contract/groups.ts'
import type { PlaceholderBody, PlaceholderInData } from '../../contract/placeholders.ts'
import { unmonitoredCondition } from '../conditions/condition.ts'
import { toConditionBody } from './receiver-body.ts'
import type { SlotHolder } from './slots.ts'

export interface Placeholder extends PlaceholderBody {
  /** Epoch milliseconds. */
  readonly created_at: number
}

export function toPlaceholderBody({ created_at: _, ...body }: Placeholder): PlaceholderBody {
  return body
}

export function toPlaceholderInData(placeholder: Placeholder): PlaceholderInData {
  const condition = toConditionBody(unmonitoredCondition(placeholder.created_at))
  return { ...toPlaceholderBody(placeholder), condition }
}

/** Only a blank slot needs no name. */
export function isNameAllowed({ kind, name }: { readonly kind: string; readonly name: string }): boolean {
  return name !== '' || kind === 'blank'
}

/** Before there were placeholders, an empty slot of a group with this number or a higher one was blank. */
const firstBlankSlot = 65_001

/** Lists the slots of groups that need a blank placeholder, in ascending order. */
export function listBlankSlots(groups: readonly Pick<Group, 'slots'>[], holders: readonly Pick<SlotHolder, 'slot'>[]) {
  const used = new Set(holders.map(({ slot }) => slot))
  const slots = new Set(groups.flatMap((group) => group.slots))
  return [...slots].filter((slot) => slot >= firstBlankSlot && !used.has(slot)).sort((a, b) => a - b)
}
