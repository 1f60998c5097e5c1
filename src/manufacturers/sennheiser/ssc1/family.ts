/** Interface of a product family with SSC 1: the addresses to subscribe to, and the conversion of their values. */

import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'
import type { DeviceLevels } from '../../../domain/levels/level-sample.ts'
import type { ReadFault } from '../../../upstream/faults.ts'
import type { FieldTable } from '../../../upstream/field-table.ts'

/** Received values by address; null if the address was rejected or has no value. */
export type SscValues = ReadonlyMap<string, unknown>

/** Addresses that are requested together. Devices reject a request if the response would be too long. */
export interface Topic {
  readonly addresses: readonly string[]
  /**
   * Interval of notifications about levels; null for notifications on change. Absent if the family's guide describes no
   * interval, which also means notifications on change.
   */
  readonly everyMs?: number | null
  /** Null if the addresses belong to the device as a whole. */
  readonly channel: number | null
  /** True if values are read with get requests instead of a subscription. */
  readonly isPolled?: boolean
}

export interface Family {
  readonly fields: FieldTable['fields']
  /** Topics of the largest model of the family. */
  readonly topics: readonly Topic[]
  /** Shows the existence of a channel: smaller models reject the address with 404. */
  channelAddress?(channel: number): string
  readChannel?(values: SscValues, channel: number): ChannelReading
  /** Default: no levels. */
  readonly levels?: DeviceLevels
  /** Matches the addresses of levels. */
  readonly levelAddress?: RegExp
  /** Returns the faults of a receiver or charger, the most severe first. */
  readFaults?(values: SscValues): readonly ReadFault[]
  /** Returns the packs in the charger with the id `charger`; undefined until it has reported its bays. */
  readUnits?(values: SscValues, charger: string): readonly DeviceReport[] | undefined
}
