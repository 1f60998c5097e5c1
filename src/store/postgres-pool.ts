/**
 * PostgreSQL connections as Kysely wants them, made to outlive a server that restarts, hangs or is full: trouble becomes
 * a StoreDownError, a connection in doubt is thrown away, and while the server refuses, one try every half second goes
 * out and everybody else is told at once.
 */

import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { StoreBusyError, StoreDownError } from './errors.ts'

const connectAgainAfterMs = 500
const int8 = 20

export function createPostgresPool(options: {
  readonly url: string
  readonly poolSize: number
  readonly waitLimitMs: number
}): PostgresPool {
  const { url, poolSize, waitLimitMs } = options
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'micwatch',
    max: poolSize,
    keepAlive: true,
    connectionTimeoutMillis: waitLimitMs,
    statement_timeout: waitLimitMs,
    // Only for a server that has stopped answering at all; else its own limit comes first.
    query_timeout: waitLimitMs * 1.2,
    idle_in_transaction_session_timeout: 15_000,
    types: { getTypeParser: (oid, format) => (oid === int8 ? Number : pg.types.getTypeParser(oid, format)) },
  })
  // Without listeners a lost connection would end the process, whether it is idle or in use.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  let refused: { readonly error: StoreDownError; readonly until: number } | undefined
  let isProbing = false

  async function connect(): Promise<PostgresPoolClient> {
    if (refused === undefined || pool.idleCount > 0) return open()
    if (isProbing || performance.now() < refused.until) throw refused.error
    isProbing = true
    try {
      return await open()
    } finally {
      isProbing = false
    }
  }

  async function open(): Promise<PostgresPoolClient> {
    try {
      const client = await pool.connect()
      refused = undefined
      return guarded(client)
    } catch (error) {
      if (hasTimedOutInQueue(error) && pool.totalCount >= poolSize) {
        throw new StoreBusyError('All database connections are in use.', { cause: error })
      }
      refused = { error: toDown(error), until: performance.now() + connectAgainAfterMs }
      throw refused.error
    }
  }

  return { connect, end: () => pool.end() }
}

function guarded(client: pg.PoolClient): PostgresPoolClient {
  let broken: StoreDownError | undefined
  async function query(text: string, values: readonly unknown[]) {
    if (broken !== undefined) throw broken
    try {
      return await client.query(text, [...values])
    } catch (error) {
      if (isTheQuerysFault(error)) throw error
      const down = toDown(error)
      if (!isUsableAfter(error)) broken = down
      throw down
    }
  }
  // Kysely's type allows for cursors, which it only uses when it is given them.
  return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(broken) }
}

/** Resources missing, the administrator's hand, limits reached, the system failing; everything else is about the SQL. */
const serverTrouble = /^(08|53|57|58|XX|25P0[34]|25006)/

function isTheQuerysFault(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !serverTrouble.test(error.code ?? '')
}

/** A cancelled statement or a full disk leaves the connection as it was. */
function isUsableAfter(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(57014|53)/.test(error.code ?? '')
}

function hasTimedOutInQueue(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

function toDown(error: unknown): StoreDownError {
  const reason = error instanceof AggregateError ? error.errors[0] : error
  const message = reason instanceof Error ? reason.message : String(reason)
  return new StoreDownError(`PostgreSQL is out of reach: ${message}`, { cause: error })
}
