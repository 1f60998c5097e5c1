/**
 * Finds the session or token of a request. Credentials are cached in memory, so that a request needs no database query
 * and users stay signed in while the database is unreachable. A credential that this or another process revokes stops
 * working within one second.
 */

import { createHash, randomBytes } from 'node:crypto'
import type { GrantedPermission, Role } from '../../contract/values.ts'
import { loginLimits } from '../../domain/access/limits.ts'
import { sessionEnd, sessionLimits, type User } from '../../domain/access/people.ts'
import { now } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { pause } from '../../platform/wait.ts'
import { pruneAudit } from '../../storage/audit.ts'
import { pruneChanges } from '../../storage/changes.ts'
import type { Database } from '../../storage/database.ts'
import {
  deleteOldSessions,
  findSessions,
  findTokensByHash,
  peopleRevision,
  touchSessions,
  touchToken,
} from '../../storage/people.ts'
import { deleteOldFailedLogins, deleteOldOidcLogins } from '../../storage/sign-ins.ts'

export interface Credential {
  readonly hash: string
  readonly kind: 'user' | 'token'
  /** The id of the user or token. */
  readonly id: number
  readonly name: string
  readonly role: Role
  readonly permissions: readonly GrantedPermission[]
  readonly user: User | null
  /** The CSRF token that every write in a session must contain; null if the credential is an API token. */
  readonly csrfToken: string | null
  /**
   * Registers a holder, which is notified when the credential is about to expire, and when it has expired or was
   * revoked. The returned function removes the holder.
   */
  hold(holder: CredentialHolder): () => void
}

export interface CredentialHolder {
  warn(endsAt: number): void
  /** The granted permissions have changed. */
  permissionsChanged?(permissions: readonly GrantedPermission[]): void
  end(): void
}

interface Entry extends Credential {
  user: User | null
  permissions: readonly GrantedPermission[]
  usedAt: number
  /** `usedAt` on the monotonic clock, so that no session is treated as idle because the wall clock jumped. */
  usedAtElapsed: number
  address: string
  endsAt: number
  /** Holders that were warned that the credential expires soon. */
  readonly warned: WeakSet<CredentialHolder>
  isTouched: boolean
  isEnded: boolean
  readonly holders: Set<CredentialHolder>
}

/** The number of credentials that one query handles. */
const batchSize = 100
const checkEveryMs = 500
/** Cached credentials are accepted for this time while the database does not respond. */
const maxCacheAgeMs = 5 * 60_000
const touchEveryMs = 60_000
const cleanUpEveryMs = 3_600_000

const sessionPattern = /^[A-Za-z0-9_-]{43}$/
/** Also the tokens of a provisioning file, which have no form of their own. */
const provisionedPattern = /^[A-Za-z0-9_-]{32,200}$/

interface Clocks {
  /** Returns the time of the wall clock in epoch milliseconds. */
  readonly wall?: () => number
  /** Returns the time of the monotonic clock in milliseconds, for state that only this process uses. */
  readonly elapsed?: () => number
}

export class Credentials {
  readonly #db: Database
  readonly #log: Log
  readonly #now: () => number
  readonly #elapsed: () => number
  readonly #entries = new Map<string, Entry>()
  #revision = -1
  /** Incremented whenever credentials may have been revoked. If it changes during a query, the query is repeated. */
  #endCount = 0
  #checkedAt: number
  #touchedAt: number
  #cleanedUpAt = Number.NEGATIVE_INFINITY

  constructor(db: Database, log: Log, { wall = now, elapsed = () => performance.now() }: Clocks = {}) {
    this.#db = db
    this.#log = log
    this.#now = wall
    this.#elapsed = elapsed
    this.#checkedAt = elapsed()
    this.#touchedAt = elapsed()
  }

  /**
   * Looks up the credential for a session id or token sent by a client; null if it is unknown or no longer valid.
   * Database errors are rethrown.
   */
  find(presented: string, address: string): Credential | null | Promise<Credential | null> {
    if (!provisionedPattern.test(presented)) return null
    const known = this.#entries.get(hashOf(presented))
    const isFresh = known !== undefined && this.#elapsed() - this.#checkedAt < maxCacheAgeMs
    if (isFresh && this.#remainingTime(known) > 0) return this.#use(known, address)
    return this.#search(presented, address)
  }

  /** Drops the matching credentials immediately. Used when this process has just revoked them. */
  end(which: { readonly user: number } | { readonly token: number } | { readonly hash: string }): void {
    this.#endCount += 1
    for (const entry of [...this.#entries.values()]) {
      const isMatch =
        'hash' in which
          ? entry.hash === which.hash
          : 'user' in which
            ? entry.kind === 'user' && entry.id === which.user
            : entry.kind === 'token' && entry.id === which.token
      if (isMatch) this.#drop(entry)
    }
  }

  /** Updates the user of their sessions. Used when this process has just changed the user. */
  update(user: User): void {
    for (const entry of this.#entries.values()) if (entry.user?.id === user.id) setUser(entry, user)
  }

  /** Drops credentials that other processes revoked, and deletes expired records, until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    let isDown = false
    while (await pause(checkEveryMs, signal)) {
      try {
        await this.#maintain()
        isDown = false
      } catch (error) {
        if (!isDown) this.#log.error({ error: String(error) }, 'cannot check sessions and tokens')
        isDown = true
      }
    }
    await this.#touch().catch(() => {})
  }

  async #search(presented: string, address: string): Promise<Credential | null> {
    const hash = hashOf(presented)
    for (;;) {
      const countBefore = this.#endCount
      const found = await this.#read(presented, hash)
      if (this.#endCount !== countBefore) continue
      const known = this.#entries.get(hash)
      if (found === null || found.endsAt <= this.#now()) {
        if (known !== undefined) this.#drop(known)
        return null
      }
      if (known === undefined) this.#entries.set(hash, found)
      return this.#use(known ?? found, address)
    }
  }

  /** Reads the credential from the database. */
  async #read(presented: string, hash: string): Promise<Entry | null> {
    const { read } = this.#db
    const [stored] = sessionPattern.test(presented) ? await findSessions(read, [hash]) : []
    if (stored === undefined) return this.#readToken(hash)
    if (sessionEnd(stored) <= this.#now()) return null
    const { user, expires_at } = stored
    const credential = {
      kind: 'user',
      id: user.id,
      name: user.username,
      role: user.role,
      permissions: user.permissions,
      user,
    } as const
    return createEntry({ hash, ...credential, csrfToken: csrfTokenOf(presented) }, expires_at)
  }

  async #readToken(hash: string): Promise<Entry | null> {
    const [stored] = await findTokensByHash(this.#db.read, [hash])
    if (stored === undefined) return null
    const { id, name, role, permissions, expires_at } = stored
    const credential = { hash, kind: 'token', id, name, role, permissions, user: null, csrfToken: null } as const
    return createEntry(credential, expires_at ?? Number.POSITIVE_INFINITY)
  }

  #use(entry: Entry, address: string): Entry {
    entry.usedAt = this.#now()
    entry.usedAtElapsed = this.#elapsed()
    entry.address = address
    entry.isTouched = true
    return entry
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry.hash)
    entry.isEnded = true
    for (const holder of [...entry.holders]) holder.end()
  }

  #remainingTime({ kind, endsAt, usedAtElapsed }: Entry): number {
    const totalMs = endsAt - this.#now()
    return kind === 'user' ? Math.min(totalMs, usedAtElapsed + sessionLimits.idleMs - this.#elapsed()) : totalMs
  }

  async #maintain(): Promise<void> {
    await this.#checkAll()
    if (this.#elapsed() - this.#touchedAt >= touchEveryMs) {
      this.#touchedAt = this.#elapsed()
      await this.#touch()
    }
    if (this.#elapsed() - this.#cleanedUpAt >= cleanUpEveryMs) {
      this.#cleanedUpAt = this.#elapsed()
      await this.#cleanUp()
    }
  }

  async #checkAll(): Promise<void> {
    const revision = await peopleRevision(this.#db.read)
    if (revision !== this.#revision) {
      this.#endCount += 1
      await this.#recheck()
      this.#revision = revision
    }
    this.#checkedAt = this.#elapsed()
    for (const entry of this.#entries.values()) {
      // An open real-time connection is treated as use.
      if (entry.holders.size > 0) this.#use(entry, entry.address)
      const remainingMs = this.#remainingTime(entry)
      if (remainingMs <= 0) this.#drop(entry)
      else if (remainingMs <= sessionLimits.warnMs) warnHolders(entry, this.#now() + remainingMs)
    }
  }

  /** Reads every cached credential from the database again. */
  async #recheck(): Promise<void> {
    for (const batch of batchesOf([...this.#entries.values()])) {
      const hashes = batch.map(({ hash }) => hash)
      const stored = new Map<string, Pick<Entry, 'role' | 'permissions' | 'user' | 'endsAt'>>()
      for (const { hash, user, expires_at } of await findSessions(this.#db.read, hashes)) {
        stored.set(hash, { role: user.role, permissions: user.permissions, user, endsAt: expires_at })
      }
      for (const { hash, role, permissions, expires_at } of await findTokensByHash(this.#db.read, hashes)) {
        stored.set(hash, { role, permissions, user: null, endsAt: expires_at ?? Number.POSITIVE_INFINITY })
      }
      for (const entry of batch) {
        const current = stored.get(entry.hash)
        if (current === undefined || current.role !== entry.role) this.#drop(entry)
        else if (current.user !== null) setUser(entry, current.user)
        else {
          entry.endsAt = current.endsAt
          setPermissions(entry, current.permissions)
        }
      }
    }
  }

  /** Stores when the credentials were last used. */
  async #touch(): Promise<void> {
    const used = [...this.#entries.values()].filter((entry) => entry.isTouched)
    if (used.length === 0) return
    await this.#db.transaction(async (tx) => {
      const sessions = used.filter(({ kind }) => kind === 'user').map(({ hash }) => hash)
      for (const batch of batchesOf(sessions)) await touchSessions(tx, batch, this.#now())
      for (const { kind, hash, usedAt, address } of used) {
        if (kind === 'token') await touchToken(tx, hash, { at: usedAt, address })
      }
    })
    for (const entry of used) entry.isTouched = false
  }

  async #cleanUp(): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await deleteOldSessions(tx, this.#now())
      await deleteOldFailedLogins(tx, this.#now() - loginLimits.windowMs)
      await deleteOldOidcLogins(tx, this.#now())
      await pruneAudit(tx, this.#now())
      await pruneChanges(tx, this.#now())
    })
  }
}

/** The caller sets when and from where it was used. */
function createEntry(credential: Omit<Credential, 'hold'>, endsAt: number): Entry {
  const holders = new Set<CredentialHolder>()
  const entry: Entry = {
    ...credential,
    usedAt: 0,
    usedAtElapsed: 0,
    address: '',
    endsAt,
    warned: new WeakSet(),
    isTouched: false,
    isEnded: false,
    holders,
    hold(holder) {
      // The credential may have been dropped while the connection was being opened.
      if (entry.isEnded) holder.end()
      else holders.add(holder)
      return () => void holders.delete(holder)
    },
  }
  return entry
}

function setUser(entry: Entry, user: User): void {
  entry.user = user
  setPermissions(entry, user.permissions)
}

function setPermissions(entry: Entry, permissions: readonly GrantedPermission[]): void {
  const isSame = String(entry.permissions) === String(permissions)
  entry.permissions = permissions
  if (!isSame) for (const holder of [...entry.holders]) holder.permissionsChanged?.(permissions)
}

function warnHolders({ holders, warned }: Entry, endsAt: number): void {
  for (const holder of holders) {
    if (!warned.has(holder)) holder.warn(endsAt)
    warned.add(holder)
  }
}

function batchesOf<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / batchSize)
  return Array.from({ length: count }, (_, index) => items.slice(index * batchSize, (index + 1) * batchSize))
}

/**
 * Returns the form in which a secret is stored. A fast hash is sufficient, because a secret of 256 random bits cannot
 * be guessed.
 */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function tokenText(id: number, secret: string): string {
  return `micwatch_${id}_${secret}`
}

/** Derives the CSRF token from the session's secret, so that it does not have to be stored. */
export function csrfTokenOf(session: string): string {
  return createHash('sha256').update(`csrf ${session}`).digest('base64url')
}
