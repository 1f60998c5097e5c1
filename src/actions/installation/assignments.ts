import Type from 'typebox'
import { performedRole } from '../../contract/performers.ts'
import { type Body, name } from '../../contract/schema.ts'
import { setActive } from '../../domain/equipment/hardware.ts'
import { enterUnit } from '../../storage/cast.ts'
import { insertAssignment, saveAssignment } from '../../storage/hardware.ts'
import { channelNumber, describeChannel, describeDevice, deviceFields, findReceiver, toReference } from './devices.ts'
import { defineSection, list, record, sortByContent, time, toIsoTime } from './entries.ts'
import { type Installation, readInstallation } from './export-installation.ts'
import { type ImportContext, ImportError, readTime } from './import-context.ts'

const AssignmentEntry = record(
  {
    performer: name,
    ...deviceFields,
    /** The number of the channel that receives the unit; absent for a device unit. */
    channel: Type.Optional(channelNumber),
    role: Type.Optional(performedRole),
    since: Type.Optional(time),
  },
  'an assignment with a performer and a manufacturer',
)
type AssignmentEntry = Body<typeof AssignmentEntry>

export const assignmentSection = defineSection(
  list(AssignmentEntry, 'a list of assignments'),
  exportAssignments,
  importAssignments,
)

function exportAssignments({ assignments, performers, units, receivers }: Installation): AssignmentEntry[] {
  const entries = assignments.flatMap(({ performer: id, wireless_unit, role, started_at }): AssignmentEntry[] => {
    const performer = performers.find((candidate) => candidate.id === id)
    const unit = units.find((candidate) => candidate.id === wireless_unit)
    if (performer === undefined || unit === undefined) return []
    // Nothing identifies a pack that no channel receives.
    if (unit.api_device_id === null && unit.channel_id === null) return []
    // A device unit is identified by its own id, even if it is docked.
    const receiver = unit.channel_id === null ? undefined : receivers.find(({ id }) => id === unit.receiver_id)
    const channel = receiver?.channels.find(({ id }) => id === unit.channel_id)
    return [
      {
        performer: performer.name,
        ...toReference(receiver ?? { ...unit, mac_address: null }),
        ...(channel && { channel: channel.channel }),
        ...(role !== null && { role }),
        since: toIsoTime(started_at),
      },
    ]
  })
  return sortByContent(entries)
}

async function importAssignments(work: ImportContext, entries: readonly AssignmentEntry[] = []): Promise<void> {
  const { tx, now, unknown } = work
  if (entries.length === 0) return
  const { performers, receivers, units, assignments } = await readInstallation(tx.query, work.secrets)
  const indexByUnit = new Map<number, number>()
  for (const [index, entry] of entries.entries()) {
    const performer = performers.find(({ name }) => name === entry.performer)
    if (performer === undefined) {
      const expected = `expected the name of a performer; ${entry.performer} does not exist`
      throw new ImportError(`assignments.${index}.performer`, expected)
    }
    const channels = findReceiver(receivers, entry)?.channels ?? []
    const channel = channels.find(({ channel }) => channel === entry.channel)
    const unit = units.find((candidate) =>
      entry.channel === undefined
        ? candidate.manufacturer === entry.manufacturer && candidate.api_device_id === entry.api_device_id
        : channel !== undefined && candidate.channel_id === channel.id,
    )
    if (unit === undefined) {
      unknown.push(channels.length === 0 ? describeDevice(entry) : describeChannel(entry, String(entry.channel)))
      continue
    }
    if (indexByUnit.has(unit.id)) {
      throw new ImportError(
        `assignments.${index}`,
        `expected every unit once; assignments.${indexByUnit.get(unit.id)} also has this unit`,
      )
    }
    indexByUnit.set(unit.id, index)
    const current = assignments.find(({ wireless_unit }) => wireless_unit === unit.id)
    const isSamePerformer = current?.performer === performer.id
    const role = entry.role === undefined && isSamePerformer ? current.role : (entry.role ?? null)
    if (!work.count('assignments', current && [current.performer, current.role], [performer.id, role])) continue
    if (!work.slots.performers.has(performer.name)) await enterUnit(tx, unit.id, { performer: performer.id, role })
    if (isSamePerformer) {
      await saveAssignment(tx, { ...current, role })
      continue
    }
    if (current !== undefined) await saveAssignment(tx, setActive(current, false, now))
    const started_at = entry.since === undefined ? now : readTime(entry.since, `assignments.${index}.since`)
    const made = { performer: performer.id, wireless_unit: unit.id, role, is_active: true, started_at, ended_at: null }
    await insertAssignment(tx, made)
  }
}
