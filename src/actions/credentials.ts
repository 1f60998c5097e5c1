/**
 * Who holds which session or token. What was found in the store once is kept in memory, so that a request costs no
 * query and a store that is away logs nobody out; what was taken away, here or by another process, ends within a second.
 */

import { createHash, randomBytes } from 'node:crypto'
import type { Role } from '../model/access.ts'
import { loginLimits } from '../model/login-limits.ts'
import { type ApiToken, sessionEnd, sessionLimits, type User } from '../model/people.ts'
import type { Log } from '../monitor/log.ts'
import { pause } from '../monitor/wait.ts'
import { pruneAudit } from '../store/audit.ts'
import type { Database } from '../store/database.ts'
import {
  deleteOldSessions,
  deleteOldTries,
  findSessions,
  findTokensByHash,
  peopleRevision,
  touchSessions,
  touchToken,
} from '../store/people.ts'

export interface Credential {
  readonly hash: string
  readonly kind: 'user' | 'token'
  /** Of the user or token. */
  readonly id: number
  readonly name: string
  readonly role: Role
  readonly user: User | null
  /** What a write with this session has to show; null for a token. */
  readonly csrfToken: string | null
  /** Calls back when it is about to end, and when it has; the function given back takes the holder off. */
  hold(holder: CredentialHolder): () => void
}

export interface CredentialHolder {
  warn(endsAt: number): void
  end(): void
}

export interface Credentials {
  /** What this text stands for; null when nothing, or nothing any more. Throws what the store throws. */
  find(presented: string, address: string): Credential | null | Promise<Credential | null>
  /** Of that kind, with that id, or that one alone: over now. For what this process itself has just taken away. */
  end(which: { readonly user: number } | { readonly token: number } | { readonly hash: string }): void
  /** Hears what other processes took away, and keeps house; until the signal aborts. */
  keepUp(signal: AbortSignal): Promise<void>
}

interface Entry extends Credential {
  usedAt: number
  /** The same on the clock that nobody sets: a wall clock that jumps signs nobody out for being idle. */
  usedAtElapsed: number
  address: string
  endsAt: number
  /** Those who know that it ends soon. */
  readonly warned: WeakSet<CredentialHolder>
  isTouched: boolean
  isEnded: boolean
  readonly holders: Set<CredentialHolder>
}

const lookEveryMs = 500
/** How long what was found is believed while the store does not answer. */
const trustMs = 5 * 60_000
const touchEveryMs = 60_000
const tidyEveryMs = 3_600_000

const tokenForm = /^micwatch_(\d{1,15})_[A-Za-z0-9_-]{43}$/
const sessionForm = /^[A-Za-z0-9_-]{43}$/

export function createCredentials(deps: {
  readonly db: Database
  readonly log: Log
  /** Wall clock, epoch ms. */
  now(): number
  /** Milliseconds on a clock that nobody sets, for what lives in this process alone. */
  elapsed?(): number
}): Credentials {
  const { db, log, now, elapsed = () => performance.now() } = deps
  const entries = new Map<string, Entry>()
  let revision = -1
  let checkedAt = elapsed()
  /** Rises whenever something is taken away: what was asked before that must be asked again. */
  let endings = 0
  let touchedAt = elapsed()
  let tidiedAt = Number.NEGATIVE_INFINITY

  function drop(entry: Entry): void {
    entries.delete(entry.hash)
    entry.isEnded = true
    for (const holder of [...entry.holders]) holder.end()
  }

  async function search(presented: string, address: string): Promise<Credential | null> {
    const hash = hashOf(presented)
    for (;;) {
      const before = endings
      const found = tokenForm.test(presented)
        ? fromToken((await findTokensByHash(db.read, [hash]))[0])
        : fromSession((await findSessions(db.read, [hash]))[0], presented)
      if (endings !== before) continue
      const known = entries.get(hash)
      if (found === null || found.endsAt <= now()) {
        if (known !== undefined) drop(known)
        return null
      }
      if (known === undefined) entries.set(hash, found)
      return use(known ?? found, address)
    }
  }

  function use(entry: Entry, address: string): Entry {
    entry.usedAt = now()
    entry.usedAtElapsed = elapsed()
    entry.address = address
    entry.isTouched = true
    return entry
  }

  /** Asks again about everything in memory. */
  async function recheck(): Promise<void> {
    const all = [...entries.values()]
    for (let at = 0; at < all.length; at += 100) {
      const some = all.slice(at, at + 100)
      const hashes = some.map(({ hash }) => hash)
      const stored = new Map<string, { role: Role; endsAt: number }>()
      for (const one of await findSessions(db.read, hashes)) {
        stored.set(one.hash, { role: one.user.role, endsAt: one.expires_at })
      }
      for (const one of await findTokensByHash(db.read, hashes)) {
        stored.set(one.hash, { role: one.role, endsAt: one.expires_at ?? Number.POSITIVE_INFINITY })
      }
      for (const entry of some) {
        const now = stored.get(entry.hash)
        if (now === undefined || now.role !== entry.role) drop(entry)
        else if (entry.kind === 'token') entry.endsAt = now.endsAt
      }
    }
  }

  async function look(): Promise<void> {
    const told = await peopleRevision(db.read)
    if (told !== revision) {
      endings += 1
      await recheck()
      revision = told
    }
    checkedAt = elapsed()
    for (const entry of entries.values()) {
      // An open page counts as use.
      if (entry.holders.size > 0) use(entry, entry.address)
      const leftMs = timeLeft(entry)
      if (leftMs <= 0) drop(entry)
      else if (leftMs <= sessionLimits.warnMs) {
        for (const holder of entry.holders) {
          if (!entry.warned.has(holder)) holder.warn(now() + leftMs)
          entry.warned.add(holder)
        }
      }
    }
  }

  function timeLeft({ kind, endsAt, usedAtElapsed }: Entry): number {
    const totalMs = endsAt - now()
    return kind === 'user' ? Math.min(totalMs, usedAtElapsed + sessionLimits.idleMs - elapsed()) : totalMs
  }

  async function touch(): Promise<void> {
    const used = [...entries.values()].filter((entry) => entry.isTouched)
    if (used.length === 0) return
    await db.transaction(async (tx) => {
      const sessions = used.filter(({ kind }) => kind === 'user')
      for (let at = 0; at < sessions.length; at += 100) {
        const some = sessions.slice(at, at + 100).map(({ hash }) => hash)
        await touchSessions(tx, some, now())
      }
      for (const { kind, hash, usedAt, address } of used) {
        if (kind === 'token') await touchToken(tx, hash, { at: usedAt, address })
      }
    })
    for (const entry of used) entry.isTouched = false
  }

  async function tidy(): Promise<void> {
    await db.transaction(async (tx) => {
      await deleteOldSessions(tx, now())
      await deleteOldTries(tx, now() - loginLimits.windowMs)
      await pruneAudit(tx, now())
    })
  }

  return {
    find(presented, address) {
      if (!tokenForm.test(presented) && !sessionForm.test(presented)) return null
      const known = entries.get(hashOf(presented))
      const isFresh = known !== undefined && elapsed() - checkedAt < trustMs
      if (isFresh && timeLeft(known) > 0) return use(known, address)
      return search(presented, address)
    },
    end(which) {
      endings += 1
      for (const entry of [...entries.values()]) {
        const isMeant =
          'hash' in which
            ? entry.hash === which.hash
            : 'user' in which
              ? entry.kind === 'user' && entry.id === which.user
              : entry.kind === 'token' && entry.id === which.token
        if (isMeant) drop(entry)
      }
    },
    async keepUp(signal) {
      let isDown = false
      while (await pause(lookEveryMs, signal)) {
        try {
          await look()
          if (elapsed() - touchedAt >= touchEveryMs) {
            touchedAt = elapsed()
            await touch()
          }
          if (elapsed() - tidiedAt >= tidyEveryMs) {
            tidiedAt = elapsed()
            await tidy()
          }
          isDown = false
        } catch (error) {
          if (!isDown) log.error({ error: String(error) }, 'sessions and tokens cannot be checked')
          isDown = true
        }
      }
      await touch().catch(() => {})
    },
  }

  function fromSession(stored: Awaited<ReturnType<typeof findSessions>>[number] | undefined, presented: string) {
    if (stored === undefined || sessionEnd(stored) <= now()) return null
    const { hash, user, expires_at } = stored
    const about = { kind: 'user', id: user.id, name: user.username, role: user.role, user } as const
    return createEntry({ hash, ...about, csrfToken: csrfTokenOf(presented) }, expires_at)
  }

  function fromToken(stored: (ApiToken & { readonly hash: string }) | undefined) {
    if (stored === undefined) return null
    const { hash, id, name, role, expires_at } = stored
    const about = { kind: 'token', id, name, role, user: null, csrfToken: null } as const
    return createEntry({ hash, ...about }, expires_at ?? Number.POSITIVE_INFINITY)
  }

  function createEntry(about: Omit<Credential, 'hold'>, endsAt: number): Entry {
    const holders = new Set<CredentialHolder>()
    const entry: Entry = {
      ...about,
      usedAt: now(),
      usedAtElapsed: elapsed(),
      address: '',
      endsAt,
      warned: new WeakSet(),
      isTouched: false,
      isEnded: false,
      holders,
      hold(holder) {
        // It may have ended while the connection was still being made.
        if (entry.isEnded) holder.end()
        else holders.add(holder)
        return () => void holders.delete(holder)
      },
    }
    return entry
  }
}

/** What the store keeps of a secret. Fast on purpose: a secret of 256 random bits cannot be guessed. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function tokenText(id: number, secret: string): string {
  return `micwatch_${id}_${secret}`
}

/** Follows from the session's secret, so that nobody has to keep it. */
export function csrfTokenOf(session: string): string {
  return createHash('sha256').update(`csrf ${session}`).digest('base64url')
}
