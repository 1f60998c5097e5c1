/** Roles, and what each may do, as one table. */

export const roles = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

/**
 * Who did something: a person, a program with a token, whoever sits at this machine, or somebody who is not signed in.
 */
export interface Actor {
  readonly kind: 'user' | 'token' | 'local' | 'guest' | 'cli'
  /** Of the user or token; null for the others. */
  readonly id: number | null
  readonly name: string
  readonly role: Role
  /** Where the request came from; null for a command. */
  readonly address: string | null
  /** The request's id; none for a command. */
  readonly request?: string | undefined
}

/** What a route may ask for, and the least role that has it. */
export const permissions = {
  /** Pages, reads and the WebSocket. */
  read: 'viewer',
  /** Refresh, scan, groups, slots, performers, assignments. */
  operate: 'operator',
  /** Looking at the admin lists. */
  inspect: 'viewer',
  /** Acknowledging movements. */
  acknowledge: 'operator',
  /** Changing settings through `POST /api/config/`. */
  configure: 'admin',
  /** Deciding about queue entries, receivers, connections, locations. */
  review: 'admin',
  /** Manufacturers and their secrets, people, tokens, the audit log, the store, removing a stored setting. */
  administer: 'admin',
} as const satisfies Record<string, Role>

export type Permission = keyof typeof permissions

export const permissionNames = Object.keys(permissions).filter((name): name is Permission =>
  Object.hasOwn(permissions, name),
)

/** What a local listener lets anybody do without credentials; everything else needs a session or a token. */
export const localPermissions: readonly Permission[] = ['read', 'operate', 'configure']

export function isAllowed(role: Role, permission: Permission): boolean {
  return roles.indexOf(role) >= roles.indexOf(permissions[permission])
}

/** What a request may do. `role` is that of its session or token, null without one. */
export function listPermissions({ role, isLocal }: { role: Role | null; isLocal: boolean }): Permission[] {
  return permissionNames.filter((permission) => {
    if (isLocal && localPermissions.includes(permission)) return true
    return role === null ? permission === 'read' : isAllowed(role, permission)
  })
}

export const auditResults = ['ok', 'refused', 'failed'] as const

/** One thing that was done, or tried. */
export interface AuditEntry {
  readonly actor: Actor
  /** Dotted, noun first: `queue.approve`, `session.login`, `settings.change`. */
  readonly action: string
  /** What it was done to: `entry 7`, `manufacturer shure`. */
  readonly target: string
  readonly result: (typeof auditResults)[number]
  /** What changed; never a secret. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** As it is kept, and told on standard output. */
export interface AuditRecord extends Omit<AuditEntry, 'actor' | 'details'> {
  readonly id: number
  readonly at: number
  readonly actor: Omit<Actor, 'role' | 'request'>
  readonly request_id: string | null
  readonly details: Readonly<Record<string, unknown>>
}
