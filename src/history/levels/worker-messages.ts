/** The messages between the main thread and the worker thread of the recorded levels. */

import type { HistoryStore } from './history-store.ts'

/** Path of the SQLite file, or URL of the PostgreSQL database. */
export type HistoryLocation = { readonly path: string } | { readonly url: string }

export type HistoryMethod =
  | 'append'
  | 'importSeconds'
  | 'query'
  | 'readCsv'
  | 'at'
  | 'range'
  | 'read'
  | 'summarize'
  | 'findIdleNoise'
  | 'stats'
  | 'size'
  | 'prune'

export interface HistoryCall {
  readonly id: number
  readonly method: HistoryMethod | 'close'
  readonly args: readonly unknown[]
}

/** Errors are converted, because their classes are lost on the way. */
export interface TransferredError {
  readonly name: string
  readonly message: string
  readonly details: string | undefined
}

export type HistoryReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: TransferredError }
  | { readonly warning: string }

export type Arguments<Method extends HistoryMethod> = Parameters<HistoryStore[Method]>
export type Result<Method extends HistoryMethod> = Awaited<ReturnType<HistoryStore[Method]>>
