/** Reads or subscribes to a device through a session that yields an update for every report. */

import type { UpstreamClient } from '../upstream/client.ts'
import type { OnProblems, PushEvent } from './plugin.ts'

type Problems = Parameters<OnProblems>[0]

interface SessionUpdate {
  /** Frames or messages that could not be parsed. */
  readonly malformed: number
  /** Refused requests and undocumented values. The same list as before if unchanged. */
  readonly problems?: Problems
}

/**
 * Opens a session, and closes it after its first update, by which time the device has reported everything. `read` is
 * called before it is closed.
 */
export async function readFirst<Update, Result>(
  client: UpstreamClient,
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal) => AsyncIterable<Update>,
  read: (update: Update) => Result,
): Promise<Result> {
  const done = new AbortController()
  const lifetime = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal])
  try {
    for await (const update of open(lifetime)) return read(update)
    signal?.throwIfAborted()
    throw new client.errors.ApiError('the connection ended before the device reported anything')
  } finally {
    done.abort()
  }
}

/** Converts the updates of a session to the events of a subscription. Ends without an error on abort. */
export async function* toPushEvents<Update extends SessionUpdate>(
  updates: AsyncIterable<Update>,
  signal: AbortSignal,
  toEvent: (update: Update) => PushEvent | null,
  /** The name of malformed parts. */
  unit: 'frames' | 'messages',
  onProblems?: OnProblems,
): AsyncGenerator<PushEvent> {
  let isOpen = false
  let known: Problems | undefined
  try {
    for await (const update of updates) {
      if (!isOpen) yield { type: 'open' }
      isOpen = true
      if (update.problems !== undefined && update.problems !== known) onProblems?.(update.problems)
      known = update.problems
      const event = toEvent(update)
      if (event !== null) yield event
      if (update.malformed > 0) yield { type: 'ignored', reason: `${update.malformed} ${unit} could not be parsed` }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
