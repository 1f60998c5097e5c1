/** Slots on the wall: the placeholders in them, and moves of channels and placeholders. */

import type { SlotMove } from '../../contract/channels.ts'
import type { Group } from '../../contract/groups.ts'
import type { PlaceholderBody, PlaceholderInData } from '../../contract/placeholders.ts'
import type { PlaceholderKind } from '../../contract/values.ts'
import { unmonitoredCondition } from '../conditions/condition.ts'
import { RequestError } from '../errors.ts'
import { toConditionBody } from './receiver-body.ts'

export const lastSlot = 65_535

/** A slot holds a channel, a placeholder, or nothing. */
export interface SlotHolder {
  readonly kind: 'channel' | 'placeholder'
  readonly id: number
  readonly slot: number
}

export interface PlannedMove {
  readonly holder: SlotHolder
  readonly slot: number
  /** The placeholder in the slot, which is merged into the channel. */
  readonly merged?: SlotHolder
}

/** True for placeholders onto which a channel can be moved. */
export function takesChannels({ kind }: { readonly kind: PlaceholderKind }): boolean {
  return kind === 'wireless' || kind === 'iem'
}

export function listSlotHolders(
  receivers: Iterable<{ readonly channels: readonly { readonly id: number; readonly slot: number }[] }>,
  placeholders: readonly { readonly id: number; readonly slot: number }[],
): SlotHolder[] {
  return [
    ...[...receivers].flatMap(({ channels }) =>
      channels.map(({ id, slot }) => ({ kind: 'channel', id, slot }) as const),
    ),
    ...placeholders.map(({ id, slot }) => ({ kind: 'placeholder', id, slot }) as const),
  ]
}

/**
 * Checks moves that happen simultaneously. Returns those that change a slot. Throws a RequestError if a move is invalid
 * or two holders would share a slot. A channel may be moved onto one of the `mergeable` placeholders.
 */
export function planMoves(
  moves: readonly SlotMove[],
  holders: readonly SlotHolder[],
  mergeable: ReadonlySet<number> = new Set(),
): PlannedMove[] {
  const byName = new Map(holders.map((holder) => [describeHolder(holder), holder]))
  const planned = new Map<SlotHolder, number>()
  for (const [index, move] of moves.entries()) {
    const name = describeMoved(move, index)
    const holder = byName.get(name)
    if (holder === undefined) throw invalid(index, `there is no ${name}`)
    if (move.from !== undefined && move.from !== holder.slot) throw movedSince(index, holder)
    if (planned.has(holder)) throw invalid(index, `${name} is already in an earlier move`)
    planned.set(holder, move.slot)
  }
  const remaining = holders.filter((holder) => !planned.has(holder))
  const occupied = new Map(remaining.map((holder) => [holder.slot, holder]))
  const merges = new Map<SlotHolder, SlotHolder>()
  for (const [holder, slot] of planned) {
    const other = occupied.get(slot)
    if (other !== undefined) {
      const isMergeable = holder.kind === 'channel' && other.kind === 'placeholder' && mergeable.has(other.id)
      if (!isMergeable) throw slotTaken(slot, other)
      merges.set(holder, other)
    }
    occupied.set(slot, holder)
  }
  return [...planned].flatMap(([holder, slot]) => {
    const merged = merges.get(holder)
    return holder.slot === slot ? [] : [{ holder, slot, ...(merged && { merged }) }]
  })
}

/**
 * Returns the moves that give everything in `requested` (description -> slot) its slot, and leave the reserved slots to
 * placeholders. Any other holder of these slots moves to the first free slot.
 */
export function planSlots(
  holders: readonly SlotHolder[],
  requested: ReadonlyMap<string, number>,
  reservedSlots: ReadonlySet<number> = new Set(),
): PlannedMove[] {
  const requestedSlots = new Set(requested.values())
  const requestedSlot = (holder: SlotHolder) => requested.get(describeHolder(holder))
  const isDisplaced = ({ kind, slot }: SlotHolder) =>
    requestedSlots.has(slot) || (kind === 'channel' && reservedSlots.has(slot))
  const remaining = holders.filter((holder) => requestedSlot(holder) === undefined)
  const used = new Set([...requestedSlots, ...reservedSlots, ...remaining.map(({ slot }) => slot)])
  let free = 1
  const nextFree = () => {
    while (used.has(free)) free += 1
    used.add(free)
    return free
  }
  return holders.flatMap((holder) => {
    const slot = requestedSlot(holder) ?? (isDisplaced(holder) ? nextFree() : holder.slot)
    return slot === holder.slot ? [] : [{ holder, slot }]
  })
}

function movedSince(index: number, holder: SlotHolder): RequestError {
  return new RequestError('changed_place', {
    subject: `${describeHolder(holder)} is now in slot ${holder.slot}`,
    details: `moves.${index}.from: expected ${holder.slot}`,
    current: {
      ...(holder.kind === 'channel' ? { channel_id: holder.id } : { placeholder_id: holder.id }),
      slot: holder.slot,
    },
  })
}

export function slotTaken(slot: number, holder: SlotHolder): RequestError {
  return new RequestError('taken', {
    subject: `slot ${slot}`,
    details: `slot: already used by ${describeHolder(holder)}`,
  })
}

export function describeHolder({ kind, id }: Pick<SlotHolder, 'kind' | 'id'>): string {
  return `${kind} ${id}`
}

function describeMoved({ channel_id, placeholder_id }: SlotMove, index: number): string {
  if (channel_id !== undefined && placeholder_id === undefined)
    return describeHolder({ kind: 'channel', id: channel_id })
  if (placeholder_id !== undefined && channel_id === undefined)
    return describeHolder({ kind: 'placeholder', id: placeholder_id })
  throw invalid(index, 'expected either a channel_id or a placeholder_id')
}

function invalid(index: number, problem: string): RequestError {
  return new RequestError('bad_request', { details: `moves.${index}: ${problem}` })
}

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

/** Before there were placeholders, an empty slot of a group with this number or a higher one was blank. */
const firstBlankSlot = 65_001

/** Lists the slots of groups that need a blank placeholder, in ascending order. */
export function listBlankSlots(groups: readonly Pick<Group, 'slots'>[], holders: readonly Pick<SlotHolder, 'slot'>[]) {
  const used = new Set(holders.map(({ slot }) => slot))
  const slots = new Set(groups.flatMap((group) => group.slots))
  return [...slots].filter((slot) => slot >= firstBlankSlot && !used.has(slot)).sort((a, b) => a - b)
}
