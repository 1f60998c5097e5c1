/** What is asked of a device that speaks SSC 1 and how its answers are read: the shape of every family. */

import type { ChannelReading, DeviceReport } from '../../../model/receiver.ts'

/** Everything told so far, by address; null: the device refuses it or has nothing to tell there. */
export type SscValues = ReadonlyMap<string, unknown>

/** What is asked for together. An answer too long for one datagram is refused, so it is little. */
export interface Topic {
  readonly addresses: readonly string[]
  /** A steady rate, for levels; null: on change. */
  readonly everyMs: number | null
  /** The channel it is about. */
  readonly channel: number | null
  /** Rather than subscribed to. */
  readonly isReadOnce?: boolean
}

export interface Family {
  /** Of as many channels as the largest of its kind has; the smaller ones refuse `/rx3/name` with 404. */
  readonly topics: readonly Topic[]
  readChannel?(values: SscValues, channel: number): ChannelReading
  /** The packs in the charger that has this id; undefined while it has not told of them. */
  readUnits?(values: SscValues, charger: string): readonly DeviceReport[] | undefined
}
