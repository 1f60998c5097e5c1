/**
 * The announcements of a followed installation besides its receivers: running shows, performers, and the sites that it
 * follows.
 */

import type { FollowedAssignment, FollowedMessage, FollowedSiteBody } from '../../contract/followed-messages.ts'
import type { LevelsRequest } from '../../contract/live-messages.ts'
import type { ChannelAssignment } from '../../contract/performers.ts'
import type { AnnouncedSiteBody } from '../../contract/sites.ts'
import { localSite } from '../equipment/sites.ts'
import { type FollowedRecord, siteHere } from './followed-receiver.ts'
import { siteLimits } from './site-limits.ts'

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
  record: Pick<FollowedRecord, 'code' | 'name'>,
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
