/** Pages that are loaded on demand, so that the wall does not load their code. */

import type { ComponentType } from 'react'
import type { PageName } from '../src/domain/pages.ts'

export const lazyPages: Partial<Record<PageName, () => Promise<ComponentType>>> = {
  sign_in: async () => (await import('./access/sign-in.tsx')).SignIn,
  set_up: async () => (await import('./access/set-up.tsx')).SetUp,
  kiosk: async () => (await import('./access/kiosk.tsx')).Kiosk,
  account: async () => (await import('./access/account.tsx')).Account,
  overview: async () => (await import('./admin/overview.tsx')).Overview,
  queue: async () => (await import('./admin/queue.tsx')).Queue,
  movements: async () => (await import('./admin/movements.tsx')).Movements,
  connections: async () => (await import('./admin/connections.tsx')).Connections,
  layout: async () => (await import('./admin/layout.tsx')).Layout,
  manufacturers: async () => (await import('./admin/manufacturers.tsx')).Manufacturers,
  people: async () => (await import('./admin/people.tsx')).People,
  tokens: async () => (await import('./admin/tokens.tsx')).Tokens,
  audit: async () => (await import('./admin/audit.tsx')).Audit,
  groups: async () => (await import('./admin/groups.tsx')).Groups,
  performers: async () => (await import('./admin/performers.tsx')).Performers,
  nodes: async () => (await import('./admin/nodes.tsx')).Nodes,
  settings: async () => (await import('./admin/settings.tsx')).SettingsPage,
}
