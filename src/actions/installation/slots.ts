import Type from 'typebox'
import { performedRole } from '../../contract/performers.ts'
import { placeholderFields } from '../../contract/placeholders.ts'
import { type Body, boundedText, choiceOf, name, slot } from '../../contract/schema.ts'
import { slotColors } from '../../contract/values.ts'
import {
  type EntryHolder,
  emptyFields,
  fieldsOf,
  holderOf,
  isEmptyEntry,
  nothingPlanned,
  type PlannedCarrier,
} from '../../domain/equipment/slot-entry.ts'
import { listSlotHolders } from '../../domain/equipment/slots.ts'
import { isBuiltIn } from '../../domain/frequencies/profile-changes.ts'
import { findSlotEntry, replaceSlotEntry } from '../../storage/slot-entries.ts'
import { insertPlaceholder } from '../../storage/slots.ts'
import { defineSection, list, partial, record, whenNotEmpty } from './entries.ts'
import { type Installation, readInstallation } from './export-installation.ts'
import { type ImportContext, ImportError } from './import-context.ts'

export const slotEntryFields = partial({
  label: name,
  color: choiceOf(slotColors),
  performer: name,
  role: performedRole,
  note: boundedText(1, 4096),
  planned: record(
    {
      frequency: placeholderFields.frequency,
      ...partial({ profile: boundedText(1, 255), transmitter: boundedText(1, 255) }),
    },
    'what is planned for the slot',
  ),
  spares: Type.Array(slot, { maxItems: 100, uniqueItems: true, description: 'a list of slots' }),
})

/** The section `placeholders` contains the rest. */
const SlotEntryRecord = record({ slot, ...slotEntryFields }, 'what was entered about a slot')
type SlotEntryRecord = Body<typeof SlotEntryRecord>

export const slotSection = defineSection(
  list(SlotEntryRecord, 'a list of entries about slots'),
  exportSlots,
  importSlots,
)

function exportSlots({ slots, receivers, placeholders, performers }: Installation): SlotEntryRecord[] {
  const slotOf = new Map(listSlotHolders(receivers, placeholders).map(({ kind, id, slot }) => [`${kind} ${id}`, slot]))
  const entries = slots.flatMap((entry): SlotEntryRecord[] => {
    const { kind, id } = holderOf(entry)
    const slot = slotOf.get(`${kind} ${id}`)
    if (slot === undefined) return []
    const isPlaceholder = kind === 'placeholder'
    const { label, color, role, note, spares } = entry
    const performer = performers.find((candidate) => candidate.id === entry.performer)
    const fields = {
      ...(label !== null && !isPlaceholder && { label }),
      ...(color !== null && { color }),
      ...(performer !== undefined && { performer: performer.name }),
      ...(role !== null && { role }),
      ...(note !== null && !isPlaceholder && { note }),
      ...whenNotEmpty('planned', toPlanned(entry.planned, isPlaceholder)),
      ...(spares.length > 0 && { spares: [...spares] }),
    }
    return Object.keys(fields).length === 0 ? [] : [{ slot, ...fields }]
  })
  return entries.sort((a, b) => a.slot - b.slot)
}

export function toPlanned({ frequency, profile, transmitter }: PlannedCarrier, isPlaceholder = false) {
  return {
    ...(frequency !== null && !isPlaceholder && { frequency }),
    ...(profile !== null && { profile }),
    ...(transmitter !== null && { transmitter }),
  }
}

/** An entry about the slot of a channel is not imported while its receiver is unknown. */
async function importSlots(work: ImportContext, entries: readonly SlotEntryRecord[] = []): Promise<void> {
  const { tx } = work
  if (entries.length === 0) return
  const { receivers, placeholders, performers, frequency_profiles } = await readInstallation(tx.query, work.secrets)
  const holders = new Map<number, EntryHolder>(
    listSlotHolders(receivers, placeholders).map((holder) => [holder.slot, holder]),
  )
  for (const [index, { slot, performer: performerName, planned, ...entered }] of entries.entries()) {
    const performer = performers.find((candidate) => candidate.name === performerName)
    if (performerName !== undefined && performer === undefined) {
      throw new ImportError(`slots.${index}.performer`, 'expected the name of a performer that exists')
    }
    const profile = planned?.profile
    if (profile !== undefined && !isBuiltIn(profile) && frequency_profiles.every(({ id }) => id !== profile)) {
      throw new ImportError(`slots.${index}.planned.profile`, 'expected the id of a frequency profile that exists')
    }
    const known = holders.get(slot)
    if (known === undefined && work.slots.channels.has(slot)) continue
    const holder = known ?? (await addPlaceholder(work, slot))
    holders.set(slot, holder)
    const stored = await findSlotEntry(tx.query, holder)
    const before = fieldsOf(stored ?? emptyFields)
    const counted = isEmptyEntry(before) ? undefined : before
    const after = {
      ...before,
      ...entered,
      ...(performer !== undefined && { performer: performer.id }),
      planned: { ...nothingPlanned, ...before.planned, ...planned },
    }
    if (work.count('slots', counted, after)) await replaceSlotEntry(tx, holder, after)
  }
}

async function addPlaceholder({ tx, now }: ImportContext, slot: number): Promise<EntryHolder> {
  const { id } = await insertPlaceholder(tx, { slot, kind: 'wireless', created_at: now })
  return { kind: 'placeholder', id }
}
