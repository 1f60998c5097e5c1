/** Placeholders: equipment without telemetry, and blank places on the wall. */

import type { Group } from '../../contract/resources/groups.ts'
import type { PlaceholderBody, PlaceholderInData } from '../../contract/resources/placeholders.ts'
import { toConditionBody } from '../api.ts'
import { unmonitoredCondition } from '../conditions/condition.ts'
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

/** Whether a placeholder of this kind may have this name: only a blank place needs none. */
export function isNameAllowed({ kind, name }: { readonly kind: string; readonly name: string }): boolean {
  return name !== '' || kind === 'blank'
}

/** From this slot on, an empty slot of a group was a blank place before there were placeholders. */
const firstBlankSlot = 65_001

/** Lists the slots of groups that need a blank placeholder, in the order of the numbers. */
export function listBlankSlots(groups: readonly Pick<Group, 'slots'>[], holders: readonly Pick<SlotHolder, 'slot'>[]) {
  const used = new Set(holders.map(({ slot }) => slot))
  const slots = new Set(groups.flatMap((group) => group.slots))
  return [...slots].filter((slot) => slot >= firstBlankSlot && !used.has(slot)).sort((a, b) => a - b)
}
