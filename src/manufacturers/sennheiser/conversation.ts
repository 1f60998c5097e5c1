/** A conversation by datagrams with one device, without socket or clock: what to say when, and what came of the answers. */

import type { Observation } from '../../model/receiver.ts'

export interface Conversation {
  /** What is to be said at this time (of a clock that nobody sets). */
  turn(now: number): readonly string[]
  /** When `turn` is to be asked again, though nothing was heard. */
  readonly nextTurnAt: number
  /** Null where the datagram told something; else why it means nothing. */
  hear(text: string, now: number): string | null
  /** The device so far; null before it is known who it is. */
  observe(): Observation | null
  /** Everything that is asked for at the beginning has been answered, or refused. */
  readonly isComplete: boolean
  /** The device does not want to talk to us, as a sentence; null when it does. */
  readonly refusal: string | null
  /** Ends what was subscribed. */
  farewell(): readonly string[]
}
