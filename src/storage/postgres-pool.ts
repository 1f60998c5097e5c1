/**
 * A PostgreSQL connection pool for Kysely that survives a server that restarts, hangs or has no free connections.
 * Connection errors are converted to a StoreDownError, unreliable connections are discarded, and connections are opened
 * one at a time. While the server is unavailable, one attempt to connect is made every half second, and all other calls
 * fail immediately.
 */

import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { PoolClient } from 'pg'
import { Semaphore } from '../platform/concurrency.ts'
import { StoreBusyError, StoreDownError } from './errors.ts'
import { toStorable } from './numbers.ts'

const reconnectDelayMs = 500
const int8 = 20

export async function createPostgresPool(options: {
  readonly url: string
  readonly poolSize: number
  readonly waitLimitMs: number
}): Promise<PostgresPool> {
  const { url, poolSize, waitLimitMs } = options
  // Loaded on demand, so that installations with SQLite start faster.
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'micwatch',
    max: poolSize,
    keepAlive: true,
    connectionTimeoutMillis: waitLimitMs,
    statement_timeout: waitLimitMs,
    // This timeout applies only if the server does not respond at all; otherwise statement_timeout expires first.
    query_timeout: waitLimitMs * 1.1,
    idle_in_transaction_session_timeout: 15_000,
    types: { getTypeParser: (oid, format) => (oid === int8 ? Number : pg.types.getTypeParser(oid, format)) },
  })
  // Without these listeners, losing a connection, whether idle or in use, would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  /** The last connection error, and the time of the next attempt. */
  let lastFailure: { readonly error: StoreDownError; readonly until: number } | undefined
  /** The error of a broken connection, until a query on another connection has succeeded. */
  let suspicion: StoreDownError | undefined
  let probing: Promise<void> | undefined
  const connecting = new Semaphore(1)

  async function connect(): Promise<PostgresPoolClient> {
    await probing
    return suspicion === undefined ? guard(await open()) : probe(suspicion)
  }

  async function probe(previous: StoreDownError): Promise<PostgresPoolClient> {
    if (probing !== undefined) throw previous
    let end = () => {}
    probing = new Promise((resolve) => {
      end = () => {
        probing = undefined
        resolve()
      }
    })
    try {
      // An open connection does not show that the server works, so the probe ends only after a query.
      return guard(await open(), end)
    } catch (error) {
      end()
      throw error
    }
  }

  /** Opens a connection, one caller at a time. If that fails, the waiting callers fail as well. */
  async function open(): Promise<PoolClient> {
    if (pool.idleCount > 0 || pool.totalCount >= poolSize) return acquire()
    return connecting.run(async () => {
      if (lastFailure !== undefined && performance.now() < lastFailure.until) throw lastFailure.error
      return acquire()
    })
  }

  async function acquire(): Promise<PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      if (hasTimedOutInQueue(error) && pool.totalCount >= poolSize) {
        throw new StoreBusyError('All database connections are in use.', { cause: error })
      }
      lastFailure = { error: toDown(error), until: performance.now() + reconnectDelayMs }
      throw lastFailure.error
    }
  }

  /** Wraps a client so that its errors are converted. `onAnswer` is called after every query and on release. */
  function guard(client: PoolClient, onAnswer = () => {}): PostgresPoolClient {
    let connectionError: StoreDownError | undefined
    async function query(text: string, values: readonly unknown[]) {
      if (connectionError !== undefined) throw connectionError
      const storable = values.map(toStorable)
      try {
        const result = await client.query(text, storable)
        suspicion = undefined
        return result
      } catch (error) {
        const storeError = toStoreError(error)
        if (storeError instanceof StoreDownError && !isUsableAfter(error)) {
          connectionError = storeError
          suspicion = storeError
        }
        throw storeError
      } finally {
        onAnswer()
      }
    }
    const release = () => {
      onAnswer()
      client.release(connectionError)
    }
    // Kysely's type includes cursors, which are not used here.
    return { query: query as unknown as PostgresPoolClient['query'], release }
  }

  return { connect, end: () => pool.end() }
}

function toStoreError(error: unknown): unknown {
  if (isConflict(error)) return new StoreBusyError('The transaction conflicts with another one.', { cause: error })
  return isQueryError(error) ? error : toDown(error)
}

/** SQLSTATE codes of an unavailable server. Other codes indicate errors in the SQL. */
const unavailableCodes = /^(08|53|57|58|XX|25P0[34]|25006)/
/** SQLSTATE codes of serialization failures, deadlocks and lock timeouts; the same call may succeed later. */
const conflictCodes = /^(40|55P03)/

function isQueryError(error: unknown): boolean {
  const code = serverCode(error)
  return code !== null && !unavailableCodes.test(code)
}

function isConflict(error: unknown): boolean {
  return conflictCodes.test(serverCode(error) ?? '')
}

/** True after a cancelled statement, a full disk or another lack of resources. */
function isUsableAfter(error: unknown): boolean {
  return /^(57014|53)/.test(serverCode(error) ?? '')
}

/** Returns the SQLSTATE of an error from the server, which always has a severity; null for all other errors. */
function serverCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('severity' in error)) return null
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function hasTimedOutInQueue(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

function toDown(error: unknown): StoreDownError {
  const reason = error instanceof AggregateError ? error.errors[0] : error
  const message = reason instanceof Error ? reason.message : String(reason)
  return new StoreDownError(`PostgreSQL is unreachable: ${message}`, { cause: error })
}
