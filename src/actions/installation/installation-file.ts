/**
 * The configuration of an installation as a file for export and import. Records refer to each other by name instead of
 * by id, so that the file can be imported elsewhere.
 */

import Type from 'typebox'
import type { Body } from '../../contract/schema.ts'
import { indexSettings } from '../../domain/settings.ts'
import { AssignmentEntry, exportAssignments } from './assignments.ts'
import { CheckEntry, exportChecks } from './checks.ts'
import { list, record, whenNotEmpty } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { exportFrequencyProfiles, ProfileEntry } from './frequency-profiles.ts'
import { exportGroups, GroupEntry } from './groups.ts'
import type { Kind } from './import-context.ts'
import { exportLocations, LocationEntry } from './locations.ts'
import { exportManufacturers, ManufacturerEntry } from './manufacturers.ts'
import { exportMarkers, MarkerEntry } from './markers.ts'
import {
  exportNotificationChannels,
  exportNotificationRules,
  NotificationChannelEntry,
  NotificationRuleEntry,
} from './notifications.ts'
import { exportPerformers, PerformerEntry } from './performers.ts'
import { exportPlaceholders, PlaceholderEntry } from './placeholders.ts'
import { exportPlanningCenter, PlanningCenterEntry } from './planning-center.ts'
import { exportReceivers, ReceiverEntry } from './receivers.ts'
import { exportScenes, SceneEntry } from './scenes.ts'
import { exportSettings, settingsSection } from './settings.ts'
import { exportShows, ShowEntry } from './shows.ts'
import { exportSilences, SilenceEntry } from './silences.ts'
import { exportSlots, SlotEntryRecord } from './slots.ts'

const sections = {
  manufacturers: list(ManufacturerEntry, 'a list of manufacturers'),
  settings: settingsSection,
  locations: list(LocationEntry, 'a list of locations'),
  groups: list(GroupEntry, 'a list of groups'),
  performers: list(PerformerEntry, 'a list of performers'),
  frequency_profiles: list(ProfileEntry, 'a list of frequency profiles'),
  receivers: list(ReceiverEntry, 'a list of receivers'),
  assignments: list(AssignmentEntry, 'a list of assignments'),
  placeholders: list(PlaceholderEntry, 'a list of placeholders'),
  slots: list(SlotEntryRecord, 'a list of entries about slots'),
  shows: list(ShowEntry, 'a list of shows'),
  scenes: list(SceneEntry, 'a list of scenes'),
  silences: list(SilenceEntry, 'a list of silences'),
  markers: list(MarkerEntry, 'a list of markers'),
  checks: list(CheckEntry, 'a list of line checks'),
  notification_channels: list(NotificationChannelEntry, 'a list of notification channels'),
  notification_rules: list(NotificationRuleEntry, 'a list of notification rules'),
  planning_center: Type.Optional(PlanningCenterEntry),
} satisfies Record<Kind, Type.TSchema>

export const kinds = Object.keys(sections) as Kind[]

export const InstallationFile = record(
  { version: Type.Literal(1, { description: '1, the version that this program supports' }), ...sections },
  'what micwatch export writes',
)
export type InstallationFile = Body<typeof InstallationFile>

/** Converts the stored records to a file. All lists are sorted, so that equal installations give equal files. */
export function toInstallationFile(
  installation: Installation,
  { withSecrets }: { readonly withSecrets: boolean },
): InstallationFile {
  const { locations, groups, shows } = installation
  const settings = indexSettings(installation.settings)
  return {
    version: 1,
    manufacturers: exportManufacturers(installation.manufacturers, settings.manufacturers, withSecrets),
    settings: exportSettings(settings.global),
    locations: exportLocations(locations),
    groups: exportGroups(groups, settings.groups),
    performers: exportPerformers(installation.performers),
    ...whenNotEmpty('frequency_profiles', exportFrequencyProfiles(installation.frequency_profiles)),
    receivers: exportReceivers(installation.receivers, locations),
    assignments: exportAssignments(installation),
    placeholders: exportPlaceholders(installation.placeholders),
    ...whenNotEmpty('slots', exportSlots(installation)),
    shows: exportShows(shows, groups),
    ...whenNotEmpty('scenes', exportScenes(installation)),
    ...whenNotEmpty('silences', exportSilences(installation)),
    ...whenNotEmpty('markers', exportMarkers(installation)),
    ...whenNotEmpty('checks', exportChecks(installation)),
    ...whenNotEmpty(
      'notification_channels',
      exportNotificationChannels(installation.notification_channels, withSecrets),
    ),
    ...whenNotEmpty('notification_rules', exportNotificationRules(installation)),
    ...whenNotEmpty('planning_center', exportPlanningCenter(installation, withSecrets)),
  }
}
