/** Interface of a product family with SSC 1: the addresses to subscribe to and how to read their values. */

import type { ChannelReading, DeviceReport } from '../../../model/receiver.ts'

/** Values received so far, by address; null: rejected or without a value. */
export type SscValues = ReadonlyMap<string, unknown>

/** Addresses that are requested together. Few, because a response that exceeds one datagram is rejected. */
export interface Topic {
  readonly addresses: readonly string[]
  /** Notification interval, for levels; null: on change. */
  readonly everyMs: number | null
  /** The channel the addresses belong to; null: the device. */
  readonly channel: number | null
  /** Read once instead of subscribed. */
  readonly isReadOnce?: boolean
}

export interface Family {
  /** Topics for the largest model of the family; smaller ones reject `/rx3/name` with 404. */
  readonly topics: readonly Topic[]
  readChannel?(values: SscValues, channel: number): ChannelReading
  /** The packs in the charger with this id; undefined until reported. */
  readUnits?(values: SscValues, charger: string): readonly DeviceReport[] | undefined
}
