/** Slots: what people enter about them, and the equipment in them. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { performedRole } from './performers.ts'
import { placeholderFields } from './placeholders.ts'
import {
  type Body,
  body,
  boundedText,
  choiceOf,
  EquipmentList,
  idOf,
  listOf,
  NoContent,
  name,
  named,
  nullable,
  oneOf,
  orNull,
  pagedOf,
  recordId,
  slot,
  text,
  textOrNull,
  whole,
  wholeOrNull,
} from './schema.ts'
import { placeholderKinds, slotColors, swapKinds, titleSources } from './values.ts'

export const SlotPlan = Type.Object(
  {
    frequency: textOrNull('MHz with three decimals.'),
    profile: textOrNull('Id of a frequency profile.'),
    transmitter: textOrNull('The transmitter, as text.'),
  },
  { description: 'What is planned for the slot.' },
)

export const SlotRecord = named('SlotRecord', 'What people entered about a slot, and the equipment in it.', {
  slot: whole('Slot.'),
  title: textOrNull('The name to show: the first that is known of those in `title_from`.'),
  title_from: orNull(
    Type.Enum([...titleSources]),
    'Where the title comes from: the performer, the label, the channel, the transmitter, or the receiver with the number of the channel.',
  ),
  label: textOrNull('Name that was given to the slot.'),
  color: orNull(Type.Enum([...slotColors]), 'Colour of the slot.'),
  kind: oneOf(placeholderKinds, 'What is in the slot.'),
  performer: orNull(
    Type.Object({
      id: whole('Id of the performer.'),
      name: text('Name.'),
      picture: textOrNull('Address of the picture.'),
    }),
    'The performer of the slot.',
  ),
  role: textOrNull('Role or instrument.'),
  note: textOrNull('Free text.'),
  planned: SlotPlan,
  spares: listOf(Type.Integer(), 'The slots of its spares.'),
  channel_id: wholeOrNull('Id of the channel in the slot.'),
  placeholder_id: wholeOrNull('Id of the placeholder in the slot.'),
  unit_id: wholeOrNull('Id of the unit that the channel receives, or received last.'),
  version: whole('Changes with every edit of what people entered, and with every move; 0 before the first.'),
})
export type SlotRecord = Body<typeof SlotRecord>

const SlotChange = body({
  label: Type.Optional(nullable(name, 'text of 1 to 255 characters')),
  color: Type.Optional(nullable(choiceOf(slotColors), `one of ${slotColors.join(', ')}`)),
  performer_id: Type.Optional(nullable(recordId, 'an id')),
  performer_name: Type.Optional(nullable(name, 'text of 1 to 255 characters')),
  role: Type.Optional(performedRole),
  note: Type.Optional(nullable(boundedText(0, 4096), 'text of up to 4096 characters')),
  planned: Type.Optional(
    nullable(
      body({
        frequency: placeholderFields.frequency,
        profile: Type.Optional(nullable(boundedText(1, 255), 'the id of a frequency profile')),
        transmitter: Type.Optional(nullable(boundedText(1, 255), 'text of 1 to 255 characters')),
      }),
      'an object',
    ),
  ),
  spares: Type.Optional(
    nullable(
      Type.Array(slot, { maxItems: 100, uniqueItems: true }),
      'a list of at most 100 different slots from 1 to 65535',
    ),
  ),
})
export type SlotChange = Body<typeof SlotChange>

const SlotSwap = body({ with: slot, what: choiceOf(swapKinds) })
export type SlotSwap = Body<typeof SlotSwap>

const SwappedSlots = named('SwappedSlots', 'Two slots that have exchanged their people or equipment.', {
  slots: listOf(SlotRecord, 'The slot of the path, then the other one.'),
})

const BySlot = Type.Object({ slot: idOf('The slot.') })

export const slotOperations = operationsOf({
  listSlots: endpoint('GET', '/api/slots/', {
    ...about('Hardware', 'All slots that hold a channel or a placeholder, in ascending order.'),
    querystring: EquipmentList,
    response: { 200: pagedOf(SlotRecord) },
  }),

  getSlot: endpoint('GET', '/api/slots/:slot/', {
    ...about('Hardware', 'One slot.'),
    params: BySlot,
    response: { 200: SlotRecord },
  }),

  changeSlot: endpoint('PUT', '/api/slots/:slot/', {
    ...about('Hardware', 'Changes the given fields of a slot; an empty slot becomes a wireless placeholder.'),
    params: BySlot,
    body: SlotChange,
    response: { 200: SlotRecord, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removeSlot: endpoint('DELETE', '/api/slots/:slot/', {
    ...about('Hardware', 'Removes what was entered about a slot and, if it holds no channel, its placeholder.'),
    params: BySlot,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse },
  }),

  swapSlots: endpoint('POST', '/api/slots/:slot/swap', {
    ...about(
      'Hardware',
      'Exchanges performer, role, label and color of two slots, or their equipment: what was entered then stays in its slot.',
    ),
    params: BySlot,
    body: SlotSwap,
    response: { 200: SwappedSlots, 409: ErrorResponse, 412: ErrorResponse },
  }),
})
