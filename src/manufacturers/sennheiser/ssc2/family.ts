/** What is asked of a device that speaks SSC 2 and how its resources are read: the shape of every family. */

import type { ChannelReading, DeviceReport } from '../../../model/receiver.ts'
import type { Resources } from './resources.ts'

export interface Family {
  readonly device_type: string
  readonly model: string
  /** What is subscribed, or read one by one, beside the identity. */
  readonly paths: readonly string[]
  readChannels(resources: Resources): readonly ChannelReading[]
  /** Packs it knows of that are on no channel, of the device that has this id; undefined while it has told of none. */
  readUnits?(resources: Resources, device: string): readonly DeviceReport[] | undefined
}
