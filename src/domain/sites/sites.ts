/**
 * The followed installations. An installation announces its running shows, its performers and the sites that it follows.
 */

import type { FollowedAssignment, FollowedMessage, FollowedSiteBody } from '../../contract/followed-messages.ts'
import type { LevelsRequest } from '../../contract/live-messages.ts'
import type { ChannelAssignment } from '../../contract/performers.ts'
import { type AnnouncedSiteBody, type SiteBody, siteLimits } from '../../contract/sites.ts'
import type { Alert } from '../alerts/alert.ts'
import type { ManufacturerHealth } from '../equipment/health.ts'
import type { Receiver } from '../equipment/receiver.ts'
import { localSite } from '../equipment/sites.ts'
import { toTimestamp } from '../timestamp.ts'
import { type SiteName, siteHere } from './followed.ts'

export interface SiteAnnouncements {
  /** The titles of running shows by id; null before the first snapshot. */
  readonly shows: ReadonlyMap<number, string> | null
  /** The sites that the installation follows, by the codes that it uses. */
  readonly sites: ReadonlyMap<string, FollowedSiteBody>
  /** The performers who wear the units of its channels, with the ids that the installation uses. */
  readonly assignments: readonly FollowedAssignment[]
}

/** Selects the levels that a followed installation sends. `sites` are the codes that it uses. */
export type LevelSelection = Omit<LevelsRequest, 'type'>

export const nothingAnnounced: SiteAnnouncements = { shows: null, sites: new Map(), assignments: [] }

/** Returns `before` itself for any other message. */
export function withAnnouncement(before: SiteAnnouncements, message: FollowedMessage): SiteAnnouncements {
  switch (message.type) {
    case 'snapshot': {
      const { shows = [], sites = [], assignments = [] } = message.data
      return {
        assignments,
        shows: new Map(shows.map(({ id, title }) => [id, title])),
        sites: new Map(sites.map((site) => [site.code, site])),
      }
    }
    case 'show': {
      const { id, title, state } = message.show
      return {
        ...before,
        shows: withEntry(before.shows ?? new Map(), id, state === 'running' ? title : null, siteLimits.shows),
      }
    }
    case 'assignments':
      return { ...before, assignments: message.assignments }
    case 'site': {
      const { type: _, seq: __, ...site } = message
      return { ...before, sites: withEntry(before.sites, site.code, site, siteLimits.sites) }
    }
    case 'site_removed': {
      return { ...before, sites: withEntry(before.sites, message.code, null, siteLimits.sites) }
    }
    default:
      return before
  }
}

/** Returns the map with an entry set (unless there are too many) or removed (null). */
function withEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value | null, max: number) {
  const changed = new Map(map)
  if (value === null) changed.delete(key)
  else if (changed.has(key) || changed.size < max) changed.set(key, value)
  return changed
}

/** Returns the site of a record, and the sites that are followed through it, with local codes. */
export function toAnnouncedSites(
  record: { readonly code: string; readonly name: string; readonly url: string },
  { shows, sites }: SiteAnnouncements,
): readonly AnnouncedSiteBody[] {
  const { code, name, url } = record
  const own = { code, name, url, shows: shows && [...shows.values()].sort() }
  return [own, ...[...sites.values()].map((site) => ({ ...siteHere(record, site), url: null, shows: site.shows }))]
}

export function hasAssignments({ type }: FollowedMessage): boolean {
  return type === 'snapshot' || type === 'assignments'
}

/** Returns the assignments of a site, and of sites followed through it, to channels that are known here. */
export function toFollowedAssignments(
  record: SiteName,
  assignments: readonly FollowedAssignment[],
  channelHere: (idThere: number) => number | undefined,
): readonly ChannelAssignment[] {
  return assignments.flatMap(({ channel_id, site = null, performer: { name } }) => {
    const id = channel_id === null ? undefined : channelHere(channel_id)
    return id === undefined
      ? []
      : [{ channel_id: id, wireless_unit: null, performer: { id: null, name }, site: siteHere(record, site) }]
  })
}

/** Returns which of these sites the record follows, with the codes that the followed installation uses. */
export function toCodesThere(record: string, codes: readonly string[]): readonly string[] {
  const prefix = `${record}/`
  return codes.flatMap((code) => {
    if (code === record) return [localSite]
    return code.startsWith(prefix) ? [code.slice(prefix.length)] : []
  })
}

/** A record that follows another installation. */
export interface SiteRecord {
  readonly code: string
  readonly name: string
  readonly url: string
  readonly latencyMs: number | null
  /** When it last sent something, in epoch ms. */
  readonly lastSeen: number | null
  readonly announcements: SiteAnnouncements
}

export interface SitesFacts {
  readonly records: readonly SiteRecord[]
  readonly health: readonly Pick<ManufacturerHealth, 'code' | 'status'>[]
  readonly receivers: readonly Receiver[]
  readonly alerts: readonly Pick<Alert, 'receiver_id' | 'state'>[]
}

type Counts = Pick<SiteBody, 'problems' | 'open_alerts' | 'receivers' | 'channels'>

/** Lists the sites of all records, and those that they follow, by code. */
export function listSites({ records, health, receivers, alerts }: SitesFacts): readonly SiteBody[] {
  const sites = new Map<string, { name: string; record: string; shows: SiteBody['shows']; counts: Counts }>()
  const siteOf = (code: string, name: string, record: string, shows: SiteBody['shows'] = null) => {
    const known = sites.get(code)
    if (known !== undefined) return known
    const added = { name, record, shows, counts: { problems: 0, open_alerts: 0, receivers: 0, channels: 0 } }
    sites.set(code, added)
    return added
  }
  for (const record of records) {
    const announced = toAnnouncedSites(record, record.announcements)
    for (const { code, name, shows } of announced) siteOf(code, name, record.code, shows)
  }
  const siteOfReceiver = new Map<number, string>()
  for (const { id, origin, channels } of receivers) {
    if (origin === undefined) continue
    const site = siteOf(origin.site.code, origin.site.name, origin.record)
    siteOfReceiver.set(id, origin.site.code)
    const problems = channels.filter(({ condition }) => condition.attention).length
    site.counts = {
      ...site.counts,
      problems: site.counts.problems + problems,
      receivers: site.counts.receivers + 1,
      channels: site.counts.channels + channels.length,
    }
  }
  for (const { receiver_id, state } of alerts) {
    const site = sites.get(siteOfReceiver.get(receiver_id ?? 0) ?? '')
    const isOpen = state === 'raised' || state === 'snoozed'
    if (site !== undefined && isOpen) site.counts = { ...site.counts, open_alerts: site.counts.open_alerts + 1 }
  }
  const recordOf = new Map(records.map((record) => [record.code, record]))
  const statusOf = new Map(health.map(({ code, status }) => [code, status]))
  return [...sites]
    .map(([code, { name, record: recordCode, shows, counts }]): SiteBody => {
      const record = recordOf.get(recordCode)
      const isDirect = code === recordCode
      return {
        code,
        name,
        url: isDirect ? (record?.url ?? null) : null,
        via: isDirect ? null : code.slice(0, code.lastIndexOf('/')),
        status: statusOf.get(recordCode) ?? 'unknown',
        ...counts,
        shows,
        latency_ms: isDirect ? (record?.latencyMs ?? null) : null,
        last_seen: record?.lastSeen == null ? null : toTimestamp(record.lastSeen),
      }
    })
    .sort((a, b) => (a.code < b.code ? -1 : 1))
}

/** The identity of an installation in its snapshot. */
export interface InstallationPath {
  /** Its id. */
  readonly installation: string
  /** The ids of all installations that it follows, directly or through others. */
  readonly via: readonly string[]
}

/** Returns why this installation (`own`) cannot follow the one at `host`, or null. */
export function findLoop(host: string, { installation, via }: InstallationPath, own: string): string | null {
  if (installation === own) return `${host} is this installation: following it would be a loop`
  return via.includes(own) ? `${host} follows this installation: following it would be a loop` : null
}
