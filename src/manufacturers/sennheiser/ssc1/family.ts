/** Interface of a product family with SSC 1: the addresses to subscribe to and how to read their values. */

import type { Fault } from '../../../domain/equipment/details.ts'
import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'
import type { DeviceLevels } from '../../../domain/levels/level-delivery.ts'
import type { FieldTable } from '../../../upstream/field-table.ts'

/** Values received so far, by address; null if the address was rejected or has no value. */
export type SscValues = ReadonlyMap<string, unknown>

/** Addresses that are requested together: only a few, because devices reject a request if the response is too long. */
export interface Topic {
  readonly addresses: readonly string[]
  /**
   * Interval of notifications about levels; null for notifications on change; absent if the family's guide describes no
   * interval, which also means notifications on change.
   */
  readonly everyMs?: number | null
  /** The channel that the addresses belong to; null if they belong to the device as a whole. */
  readonly channel: number | null
  /** Whether the values are read with get requests instead of a subscription. */
  readonly isPolled?: boolean
}

export interface Family {
  readonly fields: FieldTable['fields']
  /** Topics for the largest model of the family. */
  readonly topics: readonly Topic[]
  /** The address that shows whether a device has a channel: smaller models reject it with 404. */
  channelAddress?(channel: number): string
  readChannel?(values: SscValues, channel: number): ChannelReading
  /** How its levels arrive. Default: it has none. */
  readonly levels?: DeviceLevels
  /** Matches the addresses of levels. */
  readonly levelAddress?: RegExp
  /** Returns the fault of a receiver or charger; null without a fault, and undefined until it is known. */
  readFault?(values: SscValues): Fault | null | undefined
  /** Returns the packs in the charger, whose id is `charger`; undefined until it has reported its bays. */
  readUnits?(values: SscValues, charger: string): readonly DeviceReport[] | undefined
}
