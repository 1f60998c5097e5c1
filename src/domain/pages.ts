/** The pages, with their paths and required permissions. The service serves them, and the browser selects the view. */

import type { Permission, RolePermission } from '../contract/values.ts'

/** The sections of the administrative pages. */
const sectionNames = ['review', 'show', 'service', 'access'] as const
type SectionName = (typeof sectionNames)[number]

interface PageEntry {
  readonly name: string
  /** Relative to the mount prefix; `:id` matches one path segment. */
  readonly path: string
  readonly needs: RolePermission | 'nothing'
  /** The section of the administrative navigation. */
  readonly section?: SectionName
  /** Without this permission, the page could show only an error, so menus omit it. The default is `needs`. */
  readonly listedFor?: RolePermission
}

export const pages = [
  { name: 'monitor', path: '/', needs: 'read' },
  { name: 'wall', path: '/wall', needs: 'read' },
  { name: 'channel', path: '/channels/:id', needs: 'read' },
  { name: 'receiver', path: '/receivers/:id', needs: 'read' },
  { name: 'timeline', path: '/timeline', needs: 'read' },
  { name: 'alerts', path: '/alerts', needs: 'read' },
  { name: 'frequencies', path: '/frequencies', needs: 'read' },
  { name: 'sites', path: '/sites', needs: 'read' },
  { name: 'shows', path: '/shows', needs: 'read' },
  { name: 'show', path: '/shows/:id', needs: 'read' },
  { name: 'check', path: '/check', needs: 'read' },
  { name: 'report', path: '/reports/:id', needs: 'read' },
  { name: 'check_report', path: '/check-reports/:id', needs: 'read' },
  { name: 'crew_sheet', path: '/crew-sheet', needs: 'read' },
  { name: 'changes', path: '/changes', needs: 'read' },
  { name: 'handover', path: '/handover', needs: 'read' },
  { name: 'about', path: '/about', needs: 'read' },

  // These pages and their assets contain no confidential data.
  { name: 'sign_in', path: '/sign-in', needs: 'nothing' },
  { name: 'set_up', path: '/set-up', needs: 'nothing' },
  { name: 'kiosk', path: '/kiosk', needs: 'nothing' },
  { name: 'acknowledge', path: '/acknowledge', needs: 'nothing' },

  // Open to every role. The API checks each request, and the page shows its error messages.
  { name: 'account', path: '/account', needs: 'inspect' },
  { name: 'overview', path: '/admin', needs: 'inspect' },
  { name: 'queue', path: '/admin/queue', needs: 'inspect', section: 'review' },
  { name: 'movements', path: '/admin/movements', needs: 'inspect', section: 'review' },
  { name: 'connections', path: '/admin/connections', needs: 'inspect', section: 'review' },
  { name: 'layout', path: '/admin/layout', needs: 'inspect', section: 'show' },
  { name: 'groups', path: '/admin/groups', needs: 'inspect', section: 'show' },
  { name: 'performers', path: '/admin/performers', needs: 'inspect', section: 'show' },
  { name: 'cast', path: '/admin/cast', needs: 'inspect', section: 'show', listedFor: 'operate' },
  { name: 'undo', path: '/undo', needs: 'read', section: 'show', listedFor: 'operate' },
  { name: 'find', path: '/admin/find', needs: 'inspect', section: 'service', listedFor: 'operate' },
  { name: 'manufacturers', path: '/admin/manufacturers', needs: 'inspect', section: 'service' },
  { name: 'streams', path: '/admin/streams', needs: 'inspect', section: 'service' },
  { name: 'settings', path: '/admin/settings', needs: 'inspect', section: 'service' },
  {
    name: 'notifications',
    path: '/admin/notifications',
    needs: 'inspect',
    section: 'service',
    listedFor: 'inspect_notifications',
  },
  { name: 'backups', path: '/admin/backups', needs: 'inspect', section: 'service', listedFor: 'administer' },
  { name: 'nodes', path: '/admin/nodes', needs: 'inspect', section: 'service' },
  { name: 'people', path: '/admin/people', needs: 'inspect', section: 'access', listedFor: 'administer' },
  { name: 'tokens', path: '/admin/tokens', needs: 'inspect', section: 'access', listedFor: 'administer' },
  { name: 'audit', path: '/admin/audit', needs: 'inspect', section: 'access', listedFor: 'administer' },
] as const satisfies readonly PageEntry[]

type PageRow = (typeof pages)[number]
export type PageName = PageRow['name']
export type SectionPage = Extract<PageRow, { readonly section: SectionName }>['name']

export interface Section {
  readonly name: SectionName
  readonly pages: readonly SectionPage[]
}

export const sections: readonly Section[] = sectionNames.map((name) => ({
  name,
  pages: pages.flatMap((page) => ('section' in page && page.section === name ? [page.name] : [])),
}))

type PathOf<Name extends PageName> = Extract<PageRow, { readonly name: Name }>['path']

export function pathOf<Name extends PageName>(name: Name): PathOf<Name> {
  return rowOf(name).path as PathOf<Name>
}

/** The address of a path for people outside. `publicUrl`: `server.public_url`. */
export function urlOf(publicUrl: string, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}${path}`
}

/** True if menus list the page for a user with these permissions. */
export function isListed(name: PageName, granted: readonly Permission[]): boolean {
  const row: PageEntry = rowOf(name)
  const needed = row.listedFor ?? row.needs
  return needed === 'nothing' || granted.includes(needed)
}

/**
 * True for a path and query below the mount prefix, as browsers normalize them. A redirect to anything else could lead
 * to another site.
 */
export function isOwnAddress(text: string, mount: string): boolean {
  const isPath =
    /^\/(?!\/)[\x21\x23-\x5b\x5d-\x7e]*$/.test(text) && !/\/\.{1,2}(\/|$)|%2e/i.test(text.split(/[?#]/)[0] ?? '')
  return isPath && (text === mount || text.startsWith(`${mount}/`))
}

function rowOf(name: PageName): PageRow {
  const row = pages.find((page) => page.name === name)
  if (row === undefined) throw new Error(`Unknown page: ${name}`)
  return row
}

/** As shown in menus. */
export const pageNames = {
  alerts: 'Alerts',
  about: 'About',
  overview: 'Admin',
  connections: 'Admin → Connections',
  manufacturers: 'Admin → Manufacturers',
} as const satisfies Partial<Record<PageName, string>>

/** The buttons of the page Admin. */
export const buttonNames = { acknowledge: 'Acknowledge' } as const
