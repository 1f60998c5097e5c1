/** Roles and their permissions. */

import {
  type AuditAction,
  type actorKinds,
  type auditResults,
  type Permission,
  permissionNames,
  type Role,
  roles,
} from '../../contract/values.ts'

export type { Permission, Role } from '../../contract/values.ts'

/**
 * The origin of a request or action: a signed-in user, an API token, a local client, a guest who is not signed in, or the
 * command line.
 */
export interface Actor {
  readonly kind: (typeof actorKinds)[number]
  /** The id of the user or token; null for other kinds. */
  readonly id: number | null
  readonly name: string
  readonly role: Role
  /** The client's IP address; null for the command line. */
  readonly address: string | null
  /** The request id; absent for the command line. */
  readonly request?: string | undefined
}

/** Permission -> the lowest role that has it. */
export const permissions = {
  /** Opening pages, reading data and connecting to the WebSocket. */
  read: 'viewer',
  /** Refreshing, scanning, and changing groups, slots, performers and assignments. */
  operate: 'operator',
  /** Viewing the admin lists. */
  inspect: 'viewer',
  /** Viewing notification channels, rules and deliveries. */
  inspect_notifications: 'operator',
  /** Acknowledging movements. */
  acknowledge: 'operator',
  /** Changing settings through `POST /api/config/`. */
  configure: 'admin',
  /** Reviewing queue entries, and changing receivers, connections and locations. */
  review: 'admin',
  /**
   * Managing manufacturers and their secrets, users and tokens, viewing the audit log, acknowledging a database
   * incident, and removing stored settings.
   */
  administer: 'admin',
} as const satisfies Record<Permission, Role>

/**
 * The permissions of local clients without credentials. Everything else requires a session or a token, and so does every
 * operation under `/api/admin/`.
 */
export const localPermissions: readonly Permission[] = ['read', 'operate', 'configure']

export function isAllowed(role: Role, permission: Permission): boolean {
  return roles.indexOf(role) >= roles.indexOf(permissions[permission])
}

/** Lists the permissions of a request. `role` is the role of its session or token; null if it has neither. */
export function listPermissions({ role, isLocal }: { role: Role | null; isLocal: boolean }): Permission[] {
  return permissionNames.filter((permission) => {
    if (isLocal && localPermissions.includes(permission)) return true
    return role === null ? permission === 'read' : isAllowed(role, permission)
  })
}

/** An action that was performed or attempted. */
export interface AuditEntry {
  readonly actor: Actor
  readonly action: AuditAction
  /** The object of the action: `entry 7`, `manufacturer shure`. */
  readonly target: string
  readonly result: (typeof auditResults)[number]
  /** The changes, without secrets. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** An audit entry as it is stored and written to standard output. */
export interface AuditRecord extends Omit<AuditEntry, 'actor' | 'action' | 'details'> {
  readonly id: number
  readonly at: number
  /** How often it was repeated, the first time included. */
  readonly count: number
  /** When it was repeated last; null if it was not. */
  readonly last_at: number | null
  /** Earlier versions had other actions. */
  readonly action: string
  readonly actor: Omit<Actor, 'role' | 'request'>
  readonly request_id: string | null
  readonly details: Readonly<Record<string, unknown>>
}
