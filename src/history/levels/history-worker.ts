/** Worker thread that stores and reads recorded levels, so that a slow disk never delays live levels. */

import { parentPort, workerData } from 'node:worker_threads'
import { RequestError } from '../../domain/errors.ts'
import { describeDamage } from '../../storage/sqlite-file.ts'
import { HistoryStore } from './history-store.ts'
import { PostgresTables } from './postgres-tables.ts'
import { SqliteTables } from './sqlite-tables.ts'
import type { HistoryTables } from './tables.ts'
import type { HistoryCall, HistoryLocation, HistoryMethod, HistoryReply, TransferredError } from './worker-messages.ts'

const location = workerData as HistoryLocation
let opened: { readonly tables: HistoryTables; readonly store: HistoryStore } | null = null
let isClosed = false
/** True while parts of a block remain to be closed. */
let isClosing = false
/** Calls are processed one after the other. */
let queue: Promise<void> = Promise.resolve()

parentPort?.on('message', (call: HistoryCall) => {
  queue = queue.then(() => respond(call))
})

function post(reply: HistoryReply, transferred: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(reply, transferred)
}

const warn = (warning: string) => post({ warning })

async function respond(call: HistoryCall): Promise<void> {
  const { id, method, args } = call
  try {
    if (method === 'close') {
      await opened?.tables.close()
      opened = null
      isClosed = true
      post({ id, value: null })
      // Nothing is awaited any more, so the thread ends.
      parentPort?.close()
      return
    }
    const value = await repairAndRepeat((store) => runMethod(store, method, args))
    post({ id, value }, findBuffers(value))
  } catch (error) {
    post({ id, error: toTransferred(error) })
    return
  }
  if (method === 'append' && !isClosing) await closeNextPart()
}

/** Closes one part of a block after the reply, and the next ones after the waiting calls. */
async function closeNextPart(): Promise<void> {
  isClosing = false
  if (isClosed) return
  try {
    isClosing = await repairAndRepeat((store) => store.closeNextPart())
  } catch (error) {
    warn(`Recorded levels could not be compressed; retrying later: ${String(error)}`)
  }
  if (isClosing) setImmediate(() => (queue = queue.then(closeNextPart)))
}

function runMethod(store: HistoryStore, method: HistoryMethod, args: readonly unknown[]): Promise<unknown> {
  const run = store[method] as (...values: readonly unknown[]) => Promise<unknown>
  return run.apply(store, [...args])
}

/** Replaces a damaged file with a new one, and then repeats the call. */
async function repairAndRepeat<T>(run: (store: HistoryStore) => Promise<T>): Promise<T> {
  const { store, tables } = await open()
  try {
    return await run(store)
  } catch (error) {
    const damage = describeDamage(error)
    if (damage === null || !(tables instanceof SqliteTables)) throw error
    opened = null
    tables.setAside(damage, warn)
    return run((await open()).store)
  }
}

async function open() {
  // The file may have been deleted or restored.
  if (opened?.tables instanceof SqliteTables && !opened.tables.isInPlace()) {
    await opened.tables.close()
    opened = null
  }
  if (opened === null) {
    const tables = await openTables()
    opened = { tables, store: new HistoryStore(tables) }
  }
  return opened
}

async function openTables(): Promise<HistoryTables> {
  if ('path' in location) return SqliteTables.open(location.path, warn)
  return PostgresTables.open(location.url)
}

function toTransferred(error: unknown): TransferredError {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return { name, message, details: error instanceof RequestError ? error.details : undefined }
}

/** Returns the buffers of typed arrays in a result, which are moved to the main thread instead of being copied. */
function findBuffers(value: unknown): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) return [value.buffer as ArrayBuffer]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(findBuffers) : []
}
