/**
 * The configuration of an installation as a file for export and import. Records refer to each other by name instead of
 * by id, so that the file can be imported elsewhere.
 */

import Type from 'typebox'
import type { Body } from '../../contract/schema.ts'
import { assignmentSection } from './assignments.ts'
import { checkSection } from './checks.ts'
import { type ExportOptions, record, type Section } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { frequencyPlanSection } from './frequency-plans.ts'
import { frequencyProfileSection } from './frequency-profiles.ts'
import { groupSection } from './groups.ts'
import type { ImportContext, Kind } from './import-context.ts'
import { locationSection } from './locations.ts'
import { manufacturerSection } from './manufacturers.ts'
import { markerSection } from './markers.ts'
import { notificationChannelSection, notificationRuleSection } from './notifications.ts'
import { performerSection } from './performers.ts'
import { placeholderSection } from './placeholders.ts'
import { planningCenterSection } from './planning-center.ts'
import { receiverSection } from './receivers.ts'
import { sceneSection } from './scenes.ts'
import { settingSection } from './settings.ts'
import { showSection } from './shows.ts'
import { silenceSection } from './silences.ts'
import { slotSection } from './slots.ts'

/** Written and imported in this order: a section refers only to earlier ones. */
const sections = {
  manufacturers: manufacturerSection,
  settings: settingSection,
  locations: locationSection,
  groups: groupSection,
  performers: performerSection,
  frequency_profiles: frequencyProfileSection,
  receivers: receiverSection,
  assignments: assignmentSection,
  placeholders: placeholderSection,
  slots: slotSection,
  shows: showSection,
  scenes: sceneSection,
  frequency_plans: frequencyPlanSection,
  silences: silenceSection,
  markers: markerSection,
  checks: checkSection,
  notification_channels: notificationChannelSection,
  notification_rules: notificationRuleSection,
  planning_center: planningCenterSection,
} satisfies Record<Kind, Section>

/** Written even without entries. */
const alwaysWritten: readonly Kind[] = [
  ...(['manufacturers', 'settings', 'locations', 'groups', 'performers'] as const),
  ...(['receivers', 'assignments', 'placeholders', 'shows'] as const),
]

type Schemas = { -readonly [Name in Kind]: (typeof sections)[Name]['schema'] }

export const kinds = Object.keys(sections) as Kind[]

const schemas = Object.fromEntries(kinds.map((kind) => [kind, sections[kind].schema])) as Schemas

export const InstallationFile = record(
  { version: Type.Literal(1, { description: '1, the version that this program supports' }), ...schemas },
  'what micwatch export writes',
)
export type InstallationFile = Body<typeof InstallationFile>

/** Converts the stored records to a file. All lists are sorted, so that equal installations give equal files. */
export function toInstallationFile(installation: Installation, options: ExportOptions): InstallationFile {
  const written = kinds.flatMap((kind) => {
    const section: Section = sections[kind]
    const value = section.export(installation, options)
    return alwaysWritten.includes(kind) || Object.keys(value).length > 0 ? [[kind, value]] : []
  })
  return { version: 1, ...Object.fromEntries(written) }
}

export async function importSections(work: ImportContext, file: InstallationFile): Promise<void> {
  for (const kind of kinds) {
    const section: Section = sections[kind]
    await section.import(work, file[kind])
  }
}
