import { type Group, groupFields } from '../../contract/groups.ts'
import { type Body, name } from '../../contract/schema.ts'
import type { ScopeSettings } from '../../domain/settings.ts'
import { insertGroup, saveGroup } from '../../storage/slots.ts'
import { record, sortBy, whenNotEmpty } from './entries.ts'
import { createPicker, type ImportContext, ImportError } from './import-context.ts'
import { exportSettings, groupSettings, importSettings } from './settings.ts'

export const GroupEntry = record(
  { title: name, ...groupFields, settings: groupSettings },
  'a group with at least a title',
)
export type GroupEntry = Body<typeof GroupEntry>

export function exportGroups(groups: readonly Group[], settings: ReadonlyMap<number, ScopeSettings>): GroupEntry[] {
  return sortBy(groups, ({ title }) => title).map(({ id, zone, ...fields }) => ({
    ...fields,
    ...(zone !== null && { zone }),
    ...whenNotEmpty('settings', exportSettings(settings.get(id))),
  }))
}

/** `manufacturers` are the codes that a group may name. */
export async function importGroups(
  work: ImportContext,
  entries: readonly GroupEntry[],
  manufacturers: readonly string[],
): Promise<void> {
  const pick = createPicker(work.before.groups)
  for (const [index, { settings, ...entry }] of entries.entries()) {
    const { manufacturer = null } = entry
    if (manufacturer !== null && !manufacturers.includes(manufacturer)) {
      throw new ImportError(`groups.${index}.manufacturer`, `expected a manufacturer; ${manufacturer} does not exist`)
    }
    const stored = pick(({ title }) => title === entry.title)
    const group = { slots: [], hide_charts: false, zone: null, manufacturer: null, ...stored, ...entry }
    let id = stored?.id
    if (work.count('groups', stored, group)) {
      if (id === undefined) id = (await insertGroup(work.tx, group)).id
      else await saveGroup(work.tx, { ...group, id })
    }
    if (id !== undefined)
      await importSettings(work, settings, { manufacturer: null, group: id }, `groups.${index}.settings`)
  }
}
