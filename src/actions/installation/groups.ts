import { groupFields } from '../../contract/groups.ts'
import { type Body, name } from '../../contract/schema.ts'
import { indexSettings } from '../../domain/settings.ts'
import { insertGroup, saveGroup } from '../../storage/slots.ts'
import { defineSection, list, record, sortBy, whenNotEmpty } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError } from './import-context.ts'
import { exportSettings, groupSettings, importSettings } from './settings.ts'

const GroupEntry = record({ title: name, ...groupFields, settings: groupSettings }, 'a group with at least a title')
type GroupEntry = Body<typeof GroupEntry>

export const groupSection = defineSection(list(GroupEntry, 'a list of groups'), exportGroups, importGroups)

function exportGroups(installation: Installation): GroupEntry[] {
  const settings = indexSettings(installation.settings).groups
  return sortBy(installation.groups, ({ title }) => title).map(({ id, version: _, zone, ...fields }) => ({
    ...fields,
    ...(zone !== null && { zone }),
    ...whenNotEmpty('settings', exportSettings(settings.get(id))),
  }))
}

async function importGroups(work: ImportContext, entries: readonly GroupEntry[] = []): Promise<void> {
  const manufacturers = [...work.before.manufacturers, ...work.planned.manufacturers].map(({ code }) => code)
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
