import {
  type AuditAction,
  type AuditClass,
  type actorKinds,
  type auditResults,
  type GrantedPermission,
  type Permission,
  type Role,
  type RolePermission,
  rolePermissions,
  roles,
} from '../../contract/values.ts'

export type { Permission, Role } from '../../contract/values.ts'

/**
 * Who performs a request or action: a user, an API token, a local client, a guest, the command line, or the reader of a
 * message with a link.
 */
export interface Actor {
  readonly kind: (typeof actorKinds)[number]
  readonly id: number | null
  readonly name: string
  readonly role: Role
  /** Null for the command line. */
  readonly address: string | null
  /** Absent for the command line. */
  readonly request?: string | undefined
}

/** The service itself, for what it does without a request. */
export const serviceActor: Actor = { kind: 'cli', id: null, name: 'micwatch', role: 'admin', address: null }

/** Permission -> the lowest role that has it. */
export const permissions = {
  read: 'viewer',
  /** Refresh, scan; change groups, slots, performers and assignments. */
  operate: 'operator',
  /** Lists under Admin. */
  inspect: 'viewer',
  inspect_notifications: 'operator',
  /** Acknowledge movements. */
  acknowledge: 'operator',
  configure: 'admin',
  /** Review the queue; change receivers, connections and locations. */
  review: 'admin',
  /** Manufacturers and their secrets, users, tokens, the audit log, database incidents and stored settings. */
  administer: 'admin',
} as const satisfies Record<RolePermission, Role>

/**
 * The permissions of local clients without credentials. Everything else, including `/api/admin/`, requires a session or
 * a token.
 */
export const localPermissions: readonly RolePermission[] = ['read', 'operate', 'configure']

export function isAllowed(role: Role, permission: RolePermission): boolean {
  return roles.indexOf(role) >= roles.indexOf(permissions[permission])
}

/** `role` is null for a request without a session or token. */
export function listPermissions({
  role,
  isLocal,
  granted,
}: {
  role: Role | null
  isLocal: boolean
  granted: readonly GrantedPermission[]
}): Permission[] {
  const ofRole = rolePermissions.filter((permission) => {
    if (isLocal && localPermissions.includes(permission)) return true
    return role === null ? permission === 'read' : isAllowed(role, permission)
  })
  return [...ofRole, ...granted]
}

export interface AuditEntry {
  readonly actor: Actor
  readonly action: AuditAction
  /** For example `entry 7` or `manufacturer shure`. */
  readonly target: string
  readonly result: (typeof auditResults)[number]
  /** Never contains secrets. */
  readonly details?: Readonly<Record<string, unknown>>
}

export interface AuditRecord extends Omit<AuditEntry, 'actor' | 'action' | 'details'> {
  readonly id: number
  readonly at: number
  /** Counts the first time as well. */
  readonly count: number
  readonly last_at: number | null
  /** Records of earlier versions contain actions that no longer exist. */
  readonly action: string
  readonly actor: Omit<Actor, 'role' | 'request'>
  readonly request_id: string | null
  readonly details: Readonly<Record<string, unknown>>
}

/**
 * Each class of audit records has its own limit, so that clients with few rights cannot displace records of
 * administrators.
 */
export const auditLimits = { ageMs: 90 * 24 * 3_600_000, rows: 100_000 } as const

/** Repetitions of a minor action within this time share one record. */
export const auditMergeMs = 10 * 60_000

/**
 * - `administration`: administrators and the service itself.
 * - `operation`: operators, and everyone who listens.
 * - `minor`: viewers, kiosks, clients without credentials, OSC, and operators' markers.
 */
export function auditClassOf({ actor, action }: AuditEntry): AuditClass {
  if (actor.role === 'admin') return 'administration'
  // Each time that sound was played has its own record.
  if (action.startsWith('listen.') || action.startsWith('clip.')) return 'operation'
  const isMinor = actor.role === 'viewer' || actor.kind === 'osc' || action.startsWith('marker.')
  return isMinor ? 'minor' : 'operation'
}
