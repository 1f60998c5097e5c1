/**
 * PostgreSQL connections as Kysely wants them, made to outlive a server that restarts, hangs or is full: trouble becomes
 * a StoreDownError, a connection in doubt is thrown away, connections are made one at a time, and while the server
 * refuses, one try every half second goes out and everybody else is told at once.
 */

import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { PoolClient } from 'pg'
import { StoreBusyError, StoreDownError } from './errors.ts'
import { toStorable } from './numbers.ts'
import { createSemaphore } from './semaphore.ts'

const connectAgainAfterMs = 500
const int8 = 20

export async function createPostgresPool(options: {
  readonly url: string
  readonly poolSize: number
  readonly waitLimitMs: number
}): Promise<PostgresPool> {
  const { url, poolSize, waitLimitMs } = options
  // Nobody else has to wait for it at their start.
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'micwatch',
    max: poolSize,
    keepAlive: true,
    connectionTimeoutMillis: waitLimitMs,
    statement_timeout: waitLimitMs,
    // Only for a server that has stopped answering at all; else its own limit comes first.
    query_timeout: waitLimitMs * 1.1,
    idle_in_transaction_session_timeout: 15_000,
    types: { getTypeParser: (oid, format) => (oid === int8 ? Number : pg.types.getTypeParser(oid, format)) },
  })
  // Without listeners a lost connection would end the process, whether it is idle or in use.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  /** Why no connection could be made, and until when nobody need try again. */
  let refused: { readonly error: StoreDownError; readonly until: number } | undefined
  /** A connection broke; whether others still work, somebody has to find out. */
  let doubt: StoreDownError | undefined
  let probing: Promise<void> | undefined
  const turns = createSemaphore(1)

  async function connect(): Promise<PostgresPoolClient> {
    await probing
    return doubt === undefined ? guarded(await open()) : probe(doubt)
  }

  async function probe(before: StoreDownError): Promise<PostgresPoolClient> {
    if (probing !== undefined) throw before
    let end = () => {}
    probing = new Promise((resolve) => {
      end = () => {
        probing = undefined
        resolve()
      }
    })
    try {
      // That a connection is there says little: what counts is an answer.
      return guarded(await open(), end)
    } catch (error) {
      end()
      throw error
    }
  }

  /** Of many that find no connection one asks for it; when it is refused, so are the others. */
  async function open(): Promise<PoolClient> {
    if (pool.idleCount > 0 || pool.totalCount >= poolSize) return take()
    await turns.acquire()
    try {
      if (refused !== undefined && performance.now() < refused.until) throw refused.error
      return await take()
    } finally {
      turns.release()
    }
  }

  async function take(): Promise<PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      if (hasTimedOutInQueue(error) && pool.totalCount >= poolSize) {
        throw new StoreBusyError('All database connections are in use.', { cause: error })
      }
      refused = { error: toDown(error), until: performance.now() + connectAgainAfterMs }
      throw refused.error
    }
  }

  /** `onAnswer` hears once whether the server answers, as far as it will ever be known. */
  function guarded(client: PoolClient, onAnswer = () => {}): PostgresPoolClient {
    let broken: StoreDownError | undefined
    async function query(text: string, values: readonly unknown[]) {
      if (broken !== undefined) throw broken
      const storable = values.map(toStorable)
      try {
        const result = await client.query(text, storable)
        doubt = undefined
        return result
      } catch (error) {
        const trouble = toStoreError(error)
        if (trouble instanceof StoreDownError && !isUsableAfter(error)) {
          broken = trouble
          doubt = trouble
        }
        throw trouble
      } finally {
        onAnswer()
      }
    }
    const release = () => {
      onAnswer()
      client.release(broken)
    }
    // Kysely's type allows for cursors, which it only uses when it is given them.
    return { query: query as unknown as PostgresPoolClient['query'], release }
  }

  return { connect, end: () => pool.end() }
}

function toStoreError(error: unknown): unknown {
  if (isInTheWay(error)) return new StoreBusyError('Another transaction was in the way.', { cause: error })
  return isTheQuerysFault(error) ? error : toDown(error)
}

/** Resources missing, the administrator's hand, limits reached, the system failing; everything else is about the SQL. */
const serverTrouble = /^(08|53|57|58|XX|25P0[34]|25006)/
/** Transactions got in each other's way; the same call may succeed later. */
const inTheWay = /^(40|55P03)/

function isTheQuerysFault(error: unknown): boolean {
  const code = serverCode(error)
  return code !== null && !serverTrouble.test(code)
}

function isInTheWay(error: unknown): boolean {
  return inTheWay.test(serverCode(error) ?? '')
}

/** A cancelled statement or a full disk leaves the connection as it was. */
function isUsableAfter(error: unknown): boolean {
  return /^(57014|53)/.test(serverCode(error) ?? '')
}

/** The SQLSTATE of what the server itself complains of, which always has a severity; null for every other trouble. */
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
  return new StoreDownError(`PostgreSQL is out of reach: ${message}`, { cause: error })
}
