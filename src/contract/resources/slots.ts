/** Moves of channels and placeholders to other slots. */

import Type from 'typebox'
import { type Body, listOf, named, whole } from '../described.ts'

export const SlotMove = named('SlotMove', 'A channel or a placeholder with its new slot.', {
  channel_id: Type.Optional(whole('Id of the channel.')),
  placeholder_id: Type.Optional(whole('Id of the placeholder.')),
  slot: whole('The new slot.'),
})
export type SlotMove = Body<typeof SlotMove>

export const SlotMoves = named('SlotMoves', 'Moves that took place at once.', {
  moves: listOf(SlotMove, 'As in the request.'),
})
