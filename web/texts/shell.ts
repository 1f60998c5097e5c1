/** What stands around every administrative page. */

import type { Role } from '../../src/model/access.ts'
import type { PageName } from '../../src/model/pages.ts'

/** Name of the page in the navigation, and what it is for. */
const sections: readonly {
  readonly title: string
  readonly pages: readonly { readonly page: PageName; readonly title: string; readonly says: string }[]
}[] = [
  {
    title: 'Review',
    pages: [
      { page: 'queue', title: 'Discovery queue', says: 'Devices that were found and wait for a decision.' },
      { page: 'movements', title: 'Movements', says: 'Receivers that were found at another address or place.' },
      { page: 'connections', title: 'Connections', says: 'Real-time links to receivers, and those that fail.' },
    ],
  },
  {
    title: 'Show',
    pages: [
      { page: 'layout', title: 'Layout', says: 'Which receiver stands where.' },
      { page: 'groups', title: 'Groups', says: 'Which positions belong together on the wall.' },
      { page: 'performers', title: 'Performers', says: 'Who wears what.' },
    ],
  },
  {
    title: 'Service',
    pages: [
      { page: 'manufacturers', title: 'Manufacturers', says: 'The systems Micwatch asks, and how.' },
      { page: 'settings', title: 'Settings', says: 'Intervals, thresholds, live updates.' },
      { page: 'nodes', title: 'Nodes', says: 'The processes that share this service.' },
    ],
  },
  {
    title: 'Access',
    pages: [
      { page: 'people', title: 'People', says: 'Who may sign in, and with which role.' },
      { page: 'tokens', title: 'Tokens', says: 'Access for scripts and for screens on the wall.' },
      { page: 'audit', title: 'Audit log', says: 'Who did what, and when.' },
    ],
  },
]

const roles: Record<Role, string> = { viewer: 'Viewer', operator: 'Operator', admin: 'Administrator' }

export const shellTexts = {
  sections,
  roles,
  titled: (page: string) => `${page} · Micwatch`,
  admin: 'Admin',
  adminPages: 'Admin pages',
  menu: 'Admin menu',
  skip: 'Skip to the content',
  account: 'Account',
  signIn: 'Sign in',
  signOut: 'Sign out',
  signOutFailed: (why: string) => `You are still signed in. ${why}`,
  warning: 'Warning',
  unencrypted:
    'Signed-in pages travel unencrypted (tls: off). Anybody on this network can read them, and take over your ' +
    'session. Set tls: auto in the configuration and start Micwatch again.',
  takes: (role: string) => `This takes the role ${role.toLowerCase()}.`,
  overview: {
    title: 'Administration',
    waits: 'Waits for you',
    nothing: 'Nothing waits for you.',
    unknown: 'What waits for you is not known.',
    queue: (count: number) => (count === 1 ? '1 device waits for a decision' : `${count} devices wait for a decision`),
    movements: (count: number) =>
      count === 1 ? '1 movement is not acknowledged' : `${count} movements are not acknowledged`,
    connections: {
      error: (count: number) => (count === 1 ? '1 real-time connection fails' : `${count} real-time connections fail`),
      disconnected: (count: number) =>
        count === 1 ? '1 real-time connection is lost' : `${count} real-time connections are lost`,
    },
    manufacturer: (code: string, status: string) => `${code}: ${status}`,
    noManufacturer: 'No manufacturer is set up yet: add one, and its receivers appear',
    store: {
      restored: 'The database was damaged, and put back from a snapshot.',
      not_writable: 'Nothing can be stored at present.',
      damaged: 'The database is damaged.',
      unreachable: 'The database is out of reach.',
    },
    acknowledge: 'I have taken note',
  },
} as const
