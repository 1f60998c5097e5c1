/** Interface of a product family with SSC 1: the addresses to subscribe to and how to read their values. */

import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'

/** Values received so far, by address; null if the address was rejected or has no value. */
export type SscValues = ReadonlyMap<string, unknown>

/** Addresses that are requested together: only a few, because devices reject a request if the response is too long. */
export interface Topic {
  readonly addresses: readonly string[]
  /** Interval of notifications about levels; null for notifications on change. */
  readonly everyMs: number | null
  /** The channel that the addresses belong to; null if they belong to the device as a whole. */
  readonly channel: number | null
  /** Whether the values are read with get requests instead of a subscription. */
  readonly isPolled?: boolean
}

export interface Family {
  /** Topics for the largest model of the family; smaller ones reject `/rx3/name` with 404. */
  readonly topics: readonly Topic[]
  readChannel?(values: SscValues, channel: number): ChannelReading
  /** Returns the packs in the charger, whose id is `charger`; undefined until it has reported its bays. */
  readUnits?(values: SscValues, charger: string): readonly DeviceReport[] | undefined
}
