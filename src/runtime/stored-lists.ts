/**
 * Settings, groups, locations, performers, assignments, discovered devices and the database incident, as last loaded
 * from the database.
 */

import type { Group } from '../contract/resources/groups.ts'
import type { Location } from '../contract/resources/locations.ts'
import { type DiscoveredRecord, discoveredRetentionMs } from '../domain/equipment/discovery.ts'
import type { Assignment } from '../domain/equipment/hardware.ts'
import type { StoreIncident } from '../domain/equipment/health.ts'
import type { SettingRecord } from '../domain/settings.ts'
import { now } from '../platform/clock.ts'
import type { Reader } from '../storage/database.ts'
import { listGroups } from '../storage/groups.ts'
import { listAssignments, listPerformersWithTags, type PerformerWithTag } from '../storage/hardware.ts'
import { listDiscovered, listLocations } from '../storage/locations.ts'
import { findIncident } from '../storage/repair.ts'
import { listSettings } from '../storage/settings.ts'

interface Lists {
  readonly settings: readonly SettingRecord[]
  readonly groups: readonly Group[]
  readonly locations: readonly Location[]
  /** Devices that network scans found within the last day. */
  readonly discovered: readonly DiscoveredRecord[]
  readonly performers: readonly PerformerWithTag[]
  /** The active assignments. */
  readonly assignments: readonly Assignment[]
  readonly incident: StoreIncident | null
}

export class StoredLists {
  current: Lists = {
    settings: [],
    groups: [],
    locations: [],
    discovered: [],
    performers: [],
    assignments: [],
    incident: null,
  }
  /** The lists of the last load as JSON, to detect changes. */
  #loaded = ''

  /** Loads the lists. Returns whether any of them changed. */
  async load(reader: Reader): Promise<boolean> {
    const lists: Lists = {
      settings: await listSettings(reader),
      groups: await listGroups(reader),
      locations: await listLocations(reader),
      discovered: await listDiscovered(reader, now() - discoveredRetentionMs),
      performers: await listPerformersWithTags(reader),
      assignments: await listAssignments(reader, { is_active: true }),
      incident: await findIncident(reader),
    }
    const text = JSON.stringify(lists)
    if (text === this.#loaded) return false
    this.#loaded = text
    this.current = lists
    return true
  }
}
